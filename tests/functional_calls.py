"""Calls of the functions of `nn.functional`, as a stranger writes them, and their arrays."""

import numpy as np

_draw = np.random.default_rng(3).standard_normal
X, Y = _draw((3, 4)), _draw((3, 4))
ARRAYS: dict[str, np.ndarray] = {
    "x": X, "y": Y, "near": X + 0.01 * Y, "p": 1 / (1 + np.exp(-X)), "q": 1 / (1 + np.exp(-Y)),
    "v": _draw(4), "w": _draw((5, 4)), "row": _draw((1, 4)), "scale": np.abs(_draw(4)) + 0.5,
    "log_p": X - np.log(np.exp(X).sum(1, keepdims=True)),
    "seq": _draw((2, 4, 6)), "img": _draw((2, 4, 6, 5)), "one": _draw((4, 6, 6)),
    "k1": _draw((6, 2, 3)), "k2": _draw((6, 4, 3, 2)), "t2": _draw((4, 3, 3, 2)), "c6": _draw(6),
    "theta": _draw((2, 2, 3)), "grid": np.tanh(_draw((2, 3, 2, 2))), "b3": _draw((2, 4, 3)),
    "h": _draw((2, 4, 3, 6)), "g": _draw((2, 2, 5, 6)), "s": _draw((2, 4, 5, 6)),
    "table": _draw((6, 4)), "square": _draw((2, 4, 4)),
}  # fmt: skip
FIXED: dict[str, np.ndarray] = {
    "classes": np.array([1, 3, 0]), "ones": np.array([1.0, -1.0, 1.0]), "lone1": np.array([2]),
    "signs": np.sign(Y), "marks": (Y > 0).astype(float),
    "counts": np.array([[0.0, 3.0, 1.0, 5.0]] * 3),
    "ids": np.array([[1, 3, 1], [0, 1, 5]]), "flat": np.array([1, 3, 1, 0, 2]),
    "off": np.array([0, 2, 2]), "keep": _draw((2, 1, 3, 5)) > 0, "keep2": _draw((3, 5)) > 0,
    "keep3": _draw((4, 3, 5)) > 0, "keep1": np.array([[True], [False], [True]]),
    "odd": np.array([np.nan, np.inf, -np.inf, -0.5, 0.5, 2.0, 0.0, -3.0]),
    "cw": np.array([0.5, 2.0, 1.0, 0.25]), "tri": np.triu(np.ones((3, 5), bool), 1),
    "ints": np.arange(-8, 8).reshape(1, 1, 4, 4),
    "bytes": np.arange(16, dtype=np.uint8).reshape(1, 1, 4, 4),
    "mean": np.array([0.1, 0.2, 0.3, -1]),
    "var": np.array([0.5, 1.0, 2.0, 0.1]),
}  # fmt: skip

ROWS = """
F.relu(x) ; F.elu(x, 0.5) ; F.celu(x, 0.5) ; F.selu(x) ; F.gelu(x) ; F.leaky_relu(x, 0.2)
F.silu(x) ; F.mish(x) ; F.hardswish(x * 3) ; F.hardsigmoid(x * 3) ; F.hardtanh(x, -0.5, 0.25)
F.hardshrink(x) ; F.softshrink(x) ; F.tanhshrink(x) ; F.softsign(x) ; F.threshold(x, 0.1, -7.0)
F.rrelu(x) ; F.logsigmoid(x) ; F.sigmoid(x) ; F.tanh(x) ; F.prelu(x, scale) ; F.glu(x)
F.softplus(x) ; F.hardshrink(odd) ; F.softshrink(odd) ; F.threshold(odd, 0.0, 9.0) ; F.hardtanh(odd)
F.relu6(odd) ; F.rrelu(odd) ; F.relu_(x * 2) ; F.elu_(x * 2, 0.5) ; F.celu_(x * 2, 0.5)
F.selu_(x * 2) ; F.leaky_relu_(x * 2, 0.3) ; F.hardtanh_(x * 2, -0.5, 0.5)
F.threshold_(x * 2, 0.1, 5.0) ; F.rrelu_(x * 2, 0.5, 0.6) ; F.softmax(x) ; F.softmax(v)
F.log_softmax(x) ; F.log_softmax(v) ; F.softmin(x) ; F.softmax(seq, 1) ; F.softmax(seq, dim=0)
F.log_softmax(seq, 2) ; F.softmax(x, -1, 3) ; F.mse_loss(x, y) ; F.mse_loss(x, y, False)
F.mse_loss(x, y, True, False) ; F.mse_loss(x, y, size_average=False, reduce=True)
F.mse_loss(x, row) ; F.mse_loss(row, x, reduction="none") ; F.l1_loss(x, row)
F.smooth_l1_loss(row, x) ; F.huber_loss(x, row) ; F.mse_loss(x, y, weight=p)
F.mse_loss(x, y, reduction="sum", weight=p) ; F.mse_loss(x, y, reduction="none", weight=p)
F.l1_loss(x, y, weight=p) ; F.huber_loss(x, y, weight=p) ; F.l1_loss(x, y, False)
F.smooth_l1_loss(x, y) ; F.cross_entropy(x, classes) ; F.cross_entropy(x, classes, cw, False)
F.cross_entropy(x, classes, None, None, 3, None, "sum", 0.1)
F.cross_entropy(x, q, label_smoothing=0.2) ; F.cross_entropy(x, classes, None, True, -100, False)
F.nll_loss(log_p, classes) ; F.nll_loss(log_p, classes, cw, False) ; F.binary_cross_entropy(p, q)
F.binary_cross_entropy(p, q, cw, False) ; F.binary_cross_entropy_with_logits(x, q)
F.kl_div(log_p, q) ; F.kl_div(log_p, q, False) ; F.poisson_nll_loss(x, counts)
F.poisson_nll_loss(x, counts, True, True, False) ; F.gaussian_nll_loss(x, y, p)
F.hinge_embedding_loss(x, signs) ; F.hinge_embedding_loss(x, signs, 0.3, False)
F.soft_margin_loss(x, signs) ; F.multilabel_soft_margin_loss(x, marks)
F.multilabel_soft_margin_loss(x, marks, cw, False) ; F.multi_margin_loss(x, classes)
F.margin_ranking_loss(x, y, signs) ; F.margin_ranking_loss(x, y, signs, 0.5, False)
F.cosine_embedding_loss(x, y, ones) ; F.cosine_embedding_loss(x, y, ones, 0.2, None, None, "sum")
F.triplet_margin_loss(x, near, y) ; F.triplet_margin_with_distance_loss(x, near, y)
F.cosine_similarity(x, y) ; F.pairwise_distance(x, y) ; F.normalize(x) ; F.pdist(x) ; F.linear(x, w)
F.linear(x, v) ; F.linear(v, v) ; F.linear(seq, c6) ; F.bilinear(x, y, square)
F.batch_norm(x, mean, var) ; F.batch_norm(img, mean, var) ; F.layer_norm(x, (4,))
F.group_norm(img, 2, v, scale) ; F.instance_norm(img)
F.instance_norm(img, mean, var, use_input_stats=False) ; F.rms_norm(x, (4,), v, 0.1)
F.local_response_norm(img, 3) ; F.max_pool1d(seq, 2) ; F.max_pool2d(img, 2) ; F.max_pool2d(ints, 2)
F.max_pool2d(bytes, 2) ; F.avg_pool1d(seq, 3, 2, 1, True, False)
F.avg_pool2d(img, 3, 2, 1, True, False) ; F.lp_pool1d(seq, 2, 3) ; F.lp_pool2d(img, 2, 2)
F.lp_pool2d(img, 1, (3, 2), 2, True) ; F.adaptive_avg_pool1d(seq, 4)
F.adaptive_avg_pool2d(img, (3, None)) ; F.adaptive_max_pool1d(seq, 4)
F.adaptive_max_pool2d(img, (4, 3), return_indices=True)
F.max_unpool2d(*F.max_pool2d(img, 2, return_indices=True), 2, output_size=(6, 5))
F.conv1d(seq, k1, c6, 2, 1, 1, 2) ; F.conv2d(img, k2, c6, (2, 1), "valid")
F.conv_transpose2d(img, t2, None, 2, 1, 1, 1, 2) ; F.pad(x, (1, 2))
F.interpolate(img, (3, 7), mode="bicubic")
F.interpolate(img, (2, 7), mode="bicubic", antialias=True)
F.interpolate(img, scale_factor=0.4, mode="bilinear", antialias=True)
F.interpolate(img, (1, 3), mode="bilinear", align_corners=True, antialias=True)
F.interpolate(img, (12, 5)) ; F.upsample(img, scale_factor=2) ; F.upsample_nearest(img, (4, 9))
F.upsample_bilinear(img, scale_factor=2) ; F.pixel_shuffle(img, 2) ; F.pixel_unshuffle(one, 2)
F.channel_shuffle(img, 2) ; F.fold(F.unfold(one, 2), (6, 6), 2) ; F.unfold(img, (2, 3), 1, 1, 2)
F.grid_sample(img, grid) ; F.affine_grid(theta, (2, 1, 3, 2))
F.affine_grid(theta, (2, 1, 3, 2), None) ; F.embedding(ids, table) ; F.embedding(ids, table, 1)
F.embedding(ids, table, 1, scale_grad_by_freq=True) ; F.embedding_bag(flat, table, off)
F.one_hot(ids) ; F.dropout(x, 0.5, False) ; F.alpha_dropout(x) ; F.dropout1d(x, 0.5, False)
F.dropout2d(img, training=False) ; F.scaled_dot_product_attention(h, s, s)
F.scaled_dot_product_attention(h, s, s, keep) ; F.scaled_dot_product_attention(h, s, s, keep2)
F.scaled_dot_product_attention(h, s, s, keep3) ; F.scaled_dot_product_attention(h, s, s, keep1)
F.scaled_dot_product_attention(h, s, s, tri)
F.scaled_dot_product_attention(h, g, g, keep2, enable_gqa=True)
F.scaled_dot_product_attention(h, h, h, tri[:, :3]) ; F.hardtanh(ints) ; F.hardtanh(ints, -0.5, 1.5)
F.relu6(ints) ; F.relu6(bytes) ; F.relu(ints) ; F.hardtanh(bytes, 1, 3) ; F.avg_pool2d(ints, 2)
F.avg_pool2d(ints, 3, 2, 1, True, False) ; F.avg_pool2d(ints, 2, divisor_override=3)
F.conv2d(ints, ints[:, :, :2, 1:]) ; F.conv2d(bytes, bytes[:, :, :2, 1:], bytes[0, 0, 0, 1:2])
F.conv_transpose2d(ints, ints[:, :, :2, 1:], stride=2) ; F.threshold(ints, 1, 2)
F.pixel_unshuffle(ints, 2) ; F.pad(ints, (1, 1))
"""
"""PyTorch's database of ops has more calls of each; these are what it has not, and one of each."""
CALLS = [call for line in ROWS.strip().splitlines() for call in line.split(" ; ")]
