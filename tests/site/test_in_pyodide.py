"""The tests of the engine, the ops, the layers and the exercises in Pyodide under Node.

What needs threads, processes or an event loop of its own is skipped there. `DESELECTED` has what
differs there, and why.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PYODIDE = ROOT / ".venv/pyodide"
PURE = ["hypothesis==6.130.0", "sortedcontainers", "attrs", "pytest<10", "pluggy", "iniconfig"]
PURE += ["packaging", "pygments"]
COUNTS = {"autograd": 687, "ops": 4570, "nn": 3580, "learn": 560}
"""How many tests of each folder pass there at least; none fails."""

DESELECTED = {
    "NumPy's own integers have 32 bits: places, counts, sums, and arrays that a test makes": [
        "nn/layers/test_positional.py::test_positions_of_its_own_for_each_sequence",
        "nn/module/test_module.py::TestConversion::test_buffers_are_converted_and_stay_shared",
        "nn/module/test_state_dict.py::test_round_trip",
        "nn/module/test_state_dict.py::test_what_does_not_fit_is_named_and_nothing_is_loaded"
        "[floats]",
        "nn/test_generation.py::TestUnequalLengths::test_refused_masks",
        "ops/test_dtype_table.py::test_a_0d_integer_that_its_array_cannot_hold_is_refused",
        "ops/test_gathering.py::test_take_from_any_shape",
        "ops/test_linalg_norms.py::test_matrix_rank",
        "ops/test_linalg_types.py::test_integers_become_the_default_float",
        "ops/test_messages.py::test_message[masked_select]",
        "ops/test_products.py::test_dtypes",
        "ops/test_reductions.py::test_places_are_numpys",
        "ops/test_scans.py::test_of_equal_extremes_the_last_counts",
        "ops/test_sorting.py::test_topk_is_the_beginning_of_the_sorted",
        "ops/test_statistics.py::test_weights_keep_their_dtype",
        "ops/test_types.py::test_promotion",
    ],
    "there are no floating-point flags: NumPy warns of nothing": [
        "ops/test_functions.py"
        "::test_the_forward_pass_warns_as_numpy_does_and_the_backward_pass_is_silent",
        "ops/test_messages.py::test_warnings_turned_into_errors_stay_warnings",
        "ops/test_rounding.py::test_division_by_zero_is_numpys",
    ],
    "its C library: arccosh(-6540) is a number, and frexp(nan) has another exponent": [
        "ops/test_float16.py::test_every_half[arccosh]",
        "ops/test_float16.py::test_a_finite_function_of_a_large_number_has_a_gradient"
        "[arccosh-float64]",
        "ops/test_numpy_interplay.py"
        "::test_every_numpy_function_keeps_a_gradient_or_says_that_it_would_be_lost",
    ],
    "without a BLAS, long float32 sums and small matrix products round otherwise": [
        "ops/test_awkward_values.py::test_a_slope_of_zero_meets_an_infinite_cotangent[lstm]",
        "ops/test_awkward_values.py::test_a_slope_of_zero_meets_an_infinite_cotangent[gru]",
        "ops/test_fused.py::test_constant_rows_are_zeros_exactly[100000-10001.0]",
        "ops/test_fused.py::test_constant_rows_are_zeros_exactly[100000-1000100.0]",
        "ops/test_fused.py::test_batch_norm_far_from_zero[(2, 3, 50000)]",
        "ops/test_linalg_determinants.py::test_every_derivative_is_that_of_the_polynomial[3-3]",
    ],
    "Python itself ends: JSON that is nested so deeply needs more stack than there is": [
        "learn/test_command.py::test_a_damaged_progress_names_the_remedy[13]",
    ],
    "each check of a watched file is a process": [
        "learn/test_command.py::test_watching_checks_after_each_save",
    ],
    "threads": ["ops/test_parallel.py"],
}
"""What is not run there, by the reason."""

pytestmark = [pytest.mark.needs("node", "npm"), pytest.mark.long]


@pytest.fixture(scope="module")
def packages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """pytest and a Hypothesis that has no part in another language."""
    if not [*PYODIDE.glob("numpy*.whl")]:
        pytest.skip("needs Pyodide: make pyodide downloads it where there is a network")
    folder = tmp_path_factory.mktemp("packages")
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", folder]
    subprocess.run([*command, *PURE], check=True)
    return folder


@pytest.mark.parametrize("folder", COUNTS)
def test_it_passes_in_pyodide(packages: Path, folder: str) -> None:
    without = [f"--deselect=tests/{name}" for names in DESELECTED.values() for name in names]
    command = ["node", ROOT / "site/run_tests.mjs", PYODIDE, packages, f"tests/{folder}", *without]
    done = subprocess.run(command, capture_output=True, text=True, timeout=3600, check=False)
    end = done.stdout[-10_000:]
    assert done.returncode == 0, end
    passed = re.findall(r"(\d+) passed", end)
    assert int(passed[-1]) >= COUNTS[folder], end
