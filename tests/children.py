"""Programs in processes of their own that begin where minigrad has been imported.

`python` does what Python does with the same arguments: ``-c CODE``, ``-m MODULE`` or a file. Where
the system can fork, the process is a fork of a server that has imported minigrad, and so starts in
milliseconds instead of half a second. A test of the *start* of a process needs a fresh one, from
`subprocess`: what an import does, a package that is missing, the order of two imports, an option of
Python or a variable that is read at the start, the ranks of MPI.

The server is this file, run as a program. It gets a message for each process, and says which
process it has started, and later how it ended.
"""

import atexit
import functools
import gc
import importlib
import multiprocessing
import os
import runpy
import signal
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from multiprocessing.connection import Connection
from pathlib import Path
from types import ModuleType

__all__ = ["python"]

PRELOADED = (
    "pytest", "minigrad.data", "minigrad.io", "minigrad.learn", "minigrad.nn.functional",
    "minigrad.optim", "minigrad.torch.nn.functional", "minigrad.torch.optim",
    "minigrad.torch.utils.data", "minigrad.viz",
)  # fmt: skip
STREAMS = ("stdin", "stdout", "stderr")

Message = tuple[list[str], str, dict[str, str], str]
"""The arguments of a process, its folder, its environment, and the folder with its streams."""


def python(
    *arguments: str | Path,
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
    stdin: str = "",
    timeout: float = 120,
) -> subprocess.CompletedProcess[str]:
    """Run Python with these arguments until it ends.

    Args:
        *arguments: What follows `python` on a command line; no options of Python itself.
        cwd: The folder that it runs in; the current one by default.
        env: All variables of its environment; those of this process by default.
        stdin: What it can read.
        timeout: After how many seconds it is killed, which is an error.
    """
    words, variables = [*map(str, arguments)], dict(os.environ if env is None else env)
    if not hasattr(os, "fork"):
        return subprocess.run(
            [sys.executable, *words], cwd=cwd, env=variables, input=stdin, timeout=timeout,
            capture_output=True, encoding="utf-8", check=False,
        )  # fmt: skip
    with tempfile.TemporaryDirectory() as folder:
        streams = {name: Path(folder, name) for name in STREAMS}
        streams["stdin"].write_text(stdin, encoding="utf-8")
        channel = server()
        channel.send((words, str(cwd or Path.cwd()), variables, folder))
        process = channel.recv()
        if not channel.poll(timeout):
            os.kill(process, signal.SIGKILL)
            channel.recv()
            raise subprocess.TimeoutExpired(words, timeout)
        code = channel.recv()
        out, error = (streams[name].read_text(encoding="utf-8") for name in STREAMS[1:])
        return subprocess.CompletedProcess(words, code, out, error)


@functools.cache
def server() -> Connection:
    """The channel to the server of this process, which ends with it."""
    import minigrad

    ours, theirs = multiprocessing.Pipe()
    place = str(Path(minigrad.__file__).parent.parent)
    process = subprocess.Popen(
        [sys.executable, __file__, str(theirs.fileno()), place],
        pass_fds=[theirs.fileno()], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
    )  # fmt: skip
    theirs.close()

    @atexit.register
    def end() -> None:
        ours.close()
        process.wait()

    return ours


def serve(channel: Connection) -> Message:
    """Start a process for each message; returns in that process, with its message."""
    while True:
        try:
            message: Message = channel.recv()
        except EOFError:
            os._exit(0)
        process = os.fork()
        if not process:
            channel.close()
            return message
        channel.send(process)
        _, status = os.waitpid(process, 0)
        channel.send(os.waitstatus_to_exitcode(status))


def run(words: list[str], folder: str, variables: dict[str, str], streams: str) -> None:
    """Do what Python does with these arguments, from its start."""
    for number, name in enumerate(STREAMS):
        file = os.open(Path(streams, name), os.O_RDWR | os.O_CREAT)
        os.dup2(file, number)
        os.close(file)
    os.environ.clear()
    os.environ.update(variables)
    os.chdir(folder)
    sys.path[:0] = filter(None, variables.get("PYTHONPATH", "").split(os.pathsep))
    match words:
        case ["-c", code, *rest]:
            sys.argv[:] = ["-c", *rest]
            sys.path.insert(0, "")
            main = sys.modules["__main__"] = ModuleType("__main__")
            exec(compile(code, "<string>", "exec"), vars(main))
        case ["-m", module, *rest]:
            sys.argv[:] = [module, *rest]
            sys.path.insert(0, folder)
            runpy.run_module(module, run_name="__main__", alter_sys=True)
        case [path, *rest]:
            sys.argv[:] = [path, *rest]
            sys.path.insert(0, str(Path(path).resolve().parent))
            runpy.run_path(path, run_name="__main__")


if __name__ == "__main__":
    sys.path[0] = sys.argv[2]
    for name in PRELOADED:
        importlib.import_module(name)
    gc.freeze()  # else each process walks through all that is here when it ends
    run(*serve(Connection(int(sys.argv[1]))))
