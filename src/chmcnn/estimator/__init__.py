"""The base classes of all systems: scikit-learn estimators for classes in a hierarchy."""

from chmcnn.estimator._answering import Answering, read_limit
from chmcnn.estimator._base import HierarchicalClassifier
from chmcnn.estimator._calibration import Calibration, CalibrationMethod, learn_calibration
from chmcnn.estimator._explain import Explanation
from chmcnn.estimator._model_files import (
    describe_facts,
    describe_model,
    read_class_facts,
    read_system,
    rebuild_model,
    save_model,
    sign_model,
)
from chmcnn.estimator._neural import NeuralClassifier
from chmcnn.estimator._parameters import NetworkLike
from chmcnn.estimator._predicting import Threshold
from chmcnn.estimator._presets import PRESETS, Preset, PresetName
from chmcnn.estimator._ranking import Ranked, RankedClass, Ranker
from chmcnn.estimator._risks import Limit, RiskCurves, RiskOf, measure_risks
from chmcnn.estimator._seeds import agree_on_seed
from chmcnn.estimator._signatures import create_key, needs_password
from chmcnn.estimator._system_scores import check_system_scores
from chmcnn.estimator._transformer_files import load_transformer
from chmcnn.estimator._transformers import CustomPreprocessor
from chmcnn.estimator._trust import RiskCheck, Trust, check_trust

__all__ = [
    "PRESETS",
    "Answering",
    "Calibration",
    "CalibrationMethod",
    "CustomPreprocessor",
    "Explanation",
    "HierarchicalClassifier",
    "Limit",
    "NetworkLike",
    "NeuralClassifier",
    "Preset",
    "PresetName",
    "Ranked",
    "RankedClass",
    "Ranker",
    "RiskCheck",
    "RiskCurves",
    "RiskOf",
    "Threshold",
    "Trust",
    "agree_on_seed",
    "check_system_scores",
    "check_trust",
    "create_key",
    "describe_facts",
    "describe_model",
    "learn_calibration",
    "load_transformer",
    "measure_risks",
    "needs_password",
    "read_class_facts",
    "read_limit",
    "read_system",
    "rebuild_model",
    "save_model",
    "sign_model",
]
