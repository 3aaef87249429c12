"""Models as ONNX files, for onnxruntime and other programs that run them without minigrad.

`export` traces a few runs of a model and writes their ops as ONNX operators. The package sees the
engine only through an observer; the engine does not depend on the package.
"""

from minigrad.onnx.exporter import Exported, export

__all__ = ["Exported", "export"]
