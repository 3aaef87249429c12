"""Models as ONNX files, for onnxruntime and other programs that run them without minigrad.

`export` watches the ops of a few runs and writes what they do as ONNX operators. The package knows
of the engine what an observer is told, and nothing in the engine knows of the package.
"""

from minigrad.onnx.export import Exported, export

__all__ = ["Exported", "export"]
