"""A model as a service over HTTP: ``chmcnn serve model/``, or `create_app` for a server of one's own.

It needs the extra ``serve``.
"""

from chmcnn.serving._app import create_app
from chmcnn.serving._limits import Limits

__all__ = ["Limits", "create_app"]
