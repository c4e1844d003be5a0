"""A model as a service over HTTP: ``chmcnn serve model/``, or `create_app` for a server of one's own.

It needs the extra ``serve``.
"""

from chmcnn.serving._app import create_app
from chmcnn.serving._limits import Limits
from chmcnn.serving._watch import LOOPBACK
from chmcnn.serving._workers import APPLICATION, ServiceSettings, create_app_from_environment

__all__ = ["APPLICATION", "LOOPBACK", "Limits", "ServiceSettings", "create_app", "create_app_from_environment"]
