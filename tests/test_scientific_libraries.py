"""scikit-learn, SciPy, matplotlib and NumPy's own testing functions take tensors.

One that requires a gradient is refused, with the remedy, wherever it would become an array.
"""

from collections.abc import Callable
from io import BytesIO
from typing import Any

import numpy as np
import pytest

import minigrad
from minigrad import Tensor, tensor

sklearn = pytest.importorskip("sklearn")
scipy = pytest.importorskip("scipy")
matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")

from matplotlib import pyplot as plt  # noqa: E402
from scipy import interpolate, linalg, optimize, signal, sparse, special, stats  # noqa: E402
from sklearn import metrics, model_selection, preprocessing  # noqa: E402
from sklearn.cluster import KMeans  # noqa: E402
from sklearn.decomposition import PCA  # noqa: E402
from sklearn.linear_model import LinearRegression, LogisticRegression  # noqa: E402
from sklearn.model_selection import cross_val_score, train_test_split  # noqa: E402
from sklearn.pipeline import make_pipeline  # noqa: E402

RNG = np.random.default_rng(0)
POINTS = np.concatenate([RNG.standard_normal((20, 3)), RNG.standard_normal((20, 3)) + 4])
LABELS = np.repeat([0, 1], 20)
EYE = sparse.csr_array(np.eye(3))
PIPELINE = make_pipeline(preprocessing.StandardScaler(), LogisticRegression())
LOST = r"\.detach\(\).*\.numpy\(\)"


def scores(model: Any) -> Callable[[Any], Any]:
    return lambda x: model.fit(x, tensor(LABELS)).predict(x)


# What is made of the points, as an array.
CALLS: dict[str, Callable[[Any], Any]] = {
    "StandardScaler": preprocessing.StandardScaler().fit_transform,
    "MinMaxScaler": lambda x: preprocessing.MinMaxScaler().fit(x).transform(x),
    "RobustScaler": preprocessing.RobustScaler().fit_transform,
    "QuantileTransformer": preprocessing.QuantileTransformer(n_quantiles=5).fit_transform,
    "KMeans": KMeans(2, n_init=1, random_state=0).fit_predict,
    "PCA": PCA(2).fit_transform,
    "LinearRegression": scores(LinearRegression()),
    "a pipeline": scores(PIPELINE),
    "mean_squared_error": lambda x: metrics.mean_squared_error(x[:, 0], x[:, 1]),
    "roc_auc_score": lambda x: metrics.roc_auc_score(LABELS, x[:, 0]),
    "sparse @": lambda x: EYE @ x.T,
    "special.logsumexp": lambda x: special.logsumexp(x, axis=1),
    "special.expit": special.expit,
    "stats.zscore": stats.zscore,
    "stats.pearsonr": lambda x: stats.pearsonr(x[:, 0], x[:, 1]).statistic,
    "linalg.expm": lambda x: linalg.expm(x[:3]),
    "interpolate.CubicSpline": lambda x: interpolate.CubicSpline(np.arange(40), x)(0.5),
    "signal.convolve": lambda x: signal.convolve(x[:, 0], x[:5, 1]),
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_libraries_compute_on_values_where_no_gradient_is_lost(call: Callable[[Any], Any]) -> None:
    wanted = call(POINTS)
    recorded = tensor(POINTS, requires_grad=True)
    found = [call(tensor(POINTS)), call(recorded.detach())]
    with minigrad.no_grad():
        found.append(call(recorded))
    for result in found:
        assert not isinstance(result, Tensor)
        np.testing.assert_allclose(result, wanted)
    for history in (recorded, 1 * recorded):
        with pytest.raises((RuntimeError, TypeError), match=LOST):
            call(history)


def test_splits_and_scores_of_what_a_model_predicts() -> None:
    x = tensor(POINTS, requires_grad=True)
    assert metrics.accuracy_score(LABELS, x.sum(axis=1) > 6) > 0.9
    train, test, *_ = train_test_split(tensor(POINTS), LABELS, random_state=0)
    assert len(train) + len(test) == len(POINTS)


SPLITTERS: dict[str, dict[str, int]] = {
    "KFold": {"n_splits": 3}, "StratifiedKFold": {"n_splits": 3}, "GroupKFold": {"n_splits": 3},
    "TimeSeriesSplit": {"n_splits": 3}, "LeaveOneOut": {}, "ShuffleSplit": {"random_state": 0},
    "StratifiedShuffleSplit": {"random_state": 0},
}  # fmt: skip


@pytest.mark.parametrize("name", SPLITTERS)
def test_splitters_take_tensors(name: str) -> None:
    splitter = getattr(model_selection, name)(**SPLITTERS[name])
    arrays = [POINTS, LABELS, *([np.arange(len(POINTS)) // 8] if name == "GroupKFold" else [])]
    wanted = [(a.tolist(), b.tolist()) for a, b in splitter.split(*arrays)]
    found = splitter.split(*map(minigrad.tensor, arrays))
    assert [(a.tolist(), b.tolist()) for a, b in found] == wanted


METRICS = {
    "accuracy_score": "class", "f1_score": "class", "confusion_matrix": "class",
    "classification_report": "class", "average_precision_score": "chance",
    "roc_auc_score": "chance", "log_loss": "chances", "mean_absolute_error": "chance",
    "r2_score": "chance",
}  # fmt: skip


@pytest.mark.parametrize("name", METRICS)
def test_metrics_take_tensors(name: str) -> None:
    chances = minigrad.softmax(tensor(POINTS[:, :2] * [-1, 1]), axis=1)
    predicted = {"class": chances.argmax(axis=1), "chance": chances[:, 1], "chances": chances}
    metric, given = getattr(metrics, name), predicted[METRICS[name]]
    np.testing.assert_array_equal(metric(tensor(LABELS), given), metric(LABELS, given.numpy()))


def test_a_model_is_validated_with_tensors() -> None:
    wanted = cross_val_score(PIPELINE, POINTS, LABELS, cv=4)
    found = cross_val_score(PIPELINE, tensor(POINTS), tensor(LABELS), cv=4)
    np.testing.assert_array_equal(found, wanted)
    x, y = tensor(POINTS), tensor(LABELS)
    parts = train_test_split(x, y, stratify=y, random_state=0)
    assert all(isinstance(part, Tensor) for part in parts)


@pytest.mark.parametrize("method", ["BFGS", "CG", "Nelder-Mead"])
def test_scipy_minimizes_what_returns_tensors(method: str) -> None:
    def rosenbrock(values: np.ndarray) -> tuple[Tensor, Tensor]:
        x = tensor(values, requires_grad=True)
        loss = (1 - x[0]) ** 2 + 100 * (x[1] - x[0] ** 2) ** 2
        loss.backward()
        assert x.grad is not None
        return loss.detach(), x.grad

    gradients = method != "Nelder-Mead"
    function = rosenbrock if gradients else lambda values: rosenbrock(values)[0]
    found = optimize.minimize(function, [-1.2, 1.0], jac=gradients, method=method, tol=1e-8)
    np.testing.assert_allclose(found.x, 1.0, atol=1e-3)
    with pytest.raises(RuntimeError, match=LOST):
        optimize.minimize(
            lambda v: (tensor(v, requires_grad=True) ** 2).sum(), [1.0], method=method
        )


PLOTS: dict[str, Callable[[Any, Any], Any]] = {
    "plot": lambda ax, x: ax.plot(x),
    "plot of two": lambda ax, x: ax.plot(np.arange(40), x[:, 0], "o-"),
    "scatter": lambda ax, x: ax.scatter(x[:, 0], x[:, 1], c=x[:, 2]),
    "bar": lambda ax, x: ax.bar(range(40), x[:, 0]),
    "bar with errors": lambda ax, x: ax.bar(["a", "b"], x[:2, 0], yerr=abs(x[:2, 1])),
    "hist": lambda ax, x: ax.hist(x[:, 0], bins=5),
    "hist2d": lambda ax, x: ax.hist2d(x[:, 0], x[:, 1], bins=3),
    "imshow": lambda ax, x: ax.imshow(x),
    "pcolormesh": lambda ax, x: ax.pcolormesh(x),
    "contour": lambda ax, x: ax.contour(x),
    "errorbar": lambda ax, x: ax.errorbar(range(40), x[:, 0], abs(x[:, 1])),
    "fill_between": lambda ax, x: ax.fill_between(range(40), x[:, 0], x[:, 1]),
    "boxplot": lambda ax, x: ax.boxplot(x[:, 0]),
}


@pytest.mark.parametrize("draw", PLOTS.values(), ids=PLOTS)
def test_matplotlib_draws_tensors(draw: Callable[[Any, Any], Any]) -> None:
    def drawn(x: Any) -> bytes:
        figure, ax = plt.subplots(figsize=(2, 2), dpi=40)
        try:
            draw(ax, x)
            file = BytesIO()
            figure.savefig(file, format="png", metadata={"Software": None})
            return file.getvalue()
        finally:
            plt.close(figure)

    wanted = drawn(POINTS)
    assert drawn(tensor(POINTS)) == wanted
    recorded = tensor(POINTS, requires_grad=True)
    with minigrad.no_grad():
        assert drawn(recorded) == wanted
    with pytest.raises((RuntimeError, TypeError), match=LOST):
        drawn(recorded)


def test_numpy_testing_printing_and_saving_take_every_tensor() -> None:
    """They answer about values, so no gradient is lost."""
    leaf = tensor(POINTS, requires_grad=True)
    for x in (tensor(POINTS), leaf, 1 * leaf):
        for left, right in ((x, POINTS), (POINTS, x), (x, x)):
            np.testing.assert_allclose(left, right)
            np.testing.assert_array_equal(left, right)
            np.testing.assert_array_almost_equal(left, right)
            np.testing.assert_array_max_ulp(left, right)
            np.testing.assert_array_less(left, right + 1)
            with pytest.raises(AssertionError):
                np.testing.assert_allclose(left, right + 1)
        np.testing.assert_almost_equal(x[0, 0], POINTS[0, 0])
        np.testing.assert_equal(x, POINTS)
        assert np.array_repr(x) == np.array_repr(POINTS)
        assert np.array_str(x) == np.array_str(POINTS)
        assert f"{x}" == repr(x) == str(x)
        assert np.may_share_memory(x, x.numpy())
        assert np.shares_memory(x[0], x.numpy())
        assert np.isclose(x, POINTS).all()
        assert np.result_type(x, np.float32) == np.float64
        for save, load in ((np.save, np.load), (np.savetxt, np.loadtxt)):
            file = BytesIO()
            save(file, x)
            file.seek(0)
            np.testing.assert_array_equal(load(file), POINTS)
        file = BytesIO()
        np.savez(file, x, named=x)
        file.seek(0)
        with np.load(file) as loaded:
            np.testing.assert_array_equal(loaded["named"], POINTS)
