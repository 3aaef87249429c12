"""What layers and functions refuse: each error names them, what came and what was expected."""

from typing import Any

import numpy as np
import pytest
from printed import gist

import minigrad
from minigrad import nn
from minigrad.nn import functional as F


def ones(*shape: int) -> Any:
    return minigrad.ones(shape)


def bools(*shape: int) -> Any:
    return np.ones(shape, bool)


X = ones(2, 3)
LSTM, GRU = nn.LSTM(3, 4, batch_first=True), nn.GRU(3, 4, 2, batch_first=True)
STEPS, STATE = ones(2, 5, 3), ones(1, 2, 4)
Q, K, V = ones(2, 4, 6), ones(2, 5, 3), ones(2, 5, 4)
SINGLE, SEVERAL = nn.DotProductAttention(6, 3, 4, 8), nn.MultiHeadDotProductAttention(6, 3, 4, 8, 2)
ATTENTION, BLOCK = nn.MultiHeadAttention(6, 2), nn.TransformerBlock(6, 6, 2, 6)
IDS, PACKED = [0, 1], nn.utils.rnn.pack_padded_sequence(ones(4, 5, 3), [3, 2, 2, 1], True)
rnn, SHARES = nn.utils.rnn, [[0.5, 0.5, 0.0]] * 2
LONG, pack, encoder = ones(4, 5, 3), rnn.pack_padded_sequence, nn.TransformerEncoderLayer
attend, additive = F.scaled_dot_product_attention, F.additive_attention
transposed1d, transposed2d = nn.ConvTranspose1d, nn.ConvTranspose2d
GRID, POINTS = ones(2, 1, 3, 3), ones(2, 4, 4, 2)
UNPOOLED = F.max_pool2d(GRID, 2, return_indices=True)

REFUSALS: dict[str, str] = {
    # arguments
    **{
        f"nn.{call}, bias={value})": f"{call.partition('(')[0]}: bias ... True or False"
        for call in ("Linear(3, 4", "Conv2d(3, 4, 2", "LSTM(3, 4")
        for value in ("'False'", 0.5, "np.nan", 2)
    },
    "nn.BatchNorm1d()": "'num_features'",
    "nn.LeakyReLU(slope=1)": "LeakyReLU: ... 'slope'; it takes negative_slope, inplace",
    "encoder(6, nhead=2)": "TransformerEncoderLayer: ... it takes d_model, num_heads, ",
    "nn.MultiHeadAttention(6, 2, batch_first=True)": "MultiHeadAttention: ... 'batch_first'; it",
    "nn.ReLU(X)": "ReLU: inplace must not be a Tensor; write ReLU(...)(x)",
    "nn.Softmax(X)": "Softmax: dim must not be a Tensor; write Softmax(...)(x)",
    "nn.Linear(3, 4)()": "Linear.forward ... 'input'",
    # sizes, and inputs that do not fit
    "F.bilinear(X, X, X)": "bilinear: ... got (2, 3) and (2, 3) and (2, 3)",
    "nn.Unflatten(1, (2, 3))(ones(2, 5))": "axis 1 of size 6 expected, got (2, 5) [in Unflatten]",
    "nn.Unflatten(1, (-1, -1))(ones(2, 6))": "only specify one unknown",
    "nn.Unflatten(1, (4, -1))(ones(2, 6))": "got float32 (2, 6)",
    "nn.Unflatten(1, (0, -1))(ones(2, 6))": "got float32 (2, 6)",
    # normalization
    "nn.LayerNorm(3)(ones(2, 4))": "(3,) ... (2, 4)",
    "nn.LayerNorm((3, 0))": "LayerNorm: ... normalized_shape",
    "nn.BatchNorm2d(3)(X)": "BatchNorm2d: ... (N, C, H, W) ... C = 3 ... (2, 3)",
    "nn.BatchNorm1d(3)(ones(2, 4))": "BatchNorm1d: ... (N, C) ... (N, C, L) ... C = 3 ... (2, 4)",
    "nn.BatchNorm1d(3)(ones(1, 3))": "one value per channel",
    "F.batch_norm(X, ones(2), None)": "batch_norm: ... running_mean ... (2, 3) and (2,)",
    "F.batch_norm(X, None, None, ones(2), training=True)":
        "batch_norm: ... (2, 3) ... weight ... (3,) ... (2,)",
    "F.batch_norm(ones(3), None, None)": "(N, C, ...) ... (3,)",
    "nn.GroupNorm(2, 3)": "GroupNorm: num_channels ... num_groups, got 3, 2",
    "nn.GroupNorm(2, 4)(ones(2, 6))": "group_norm: ... weight must have shape (6,), got (4,)",
    "F.group_norm(ones(2, 5), 2)": "C divisible by 2 ... (2, 5)",
    "F.instance_norm(X)": "instance_norm: ... several values per channel ... (2, 3)",
    "F.instance_norm(X[None], use_input_stats=False)": "needs running_mean and",
    "nn.InstanceNorm1d(2)(X[None, None])": "InstanceNorm1d: ... (C, L) with C = 2",
    "nn.InstanceNorm1d(3, affine=True)(X[None])": "with C = 3 expected, got (1, 2, 3)",
    # activations and dropout
    "nn.Softplus(0.0)(X)": "softplus: beta ... 0",
    "F.prelu(X, ones(2))": "prelu: ... 3 channels ... (3,) or (1,) expected, got (2, 3) and (2,)",
    "F.hardtanh(X, 1.0, 0.0)": "hardtanh: max_val must be ... at least 1.0, got 0.0",
    "F.dropout1d(ones(3))": "dropout1d: ... (C, L) ... got (3,)",
    "F.dropout2d(ones(3))": "dropout2d: ... H, W) ... got (3,)",
    "F.drop_path(minigrad.tensor(1.0))": "drop_path: ... (N, ...) ... got ()",
    # embeddings
    "nn.Embedding(4, 2, padding_idx=4)": "Embedding: padding_idx 4 ... 4 rows",
    "F.embedding([0], ones(4, 2), padding_idx=-5)": "embedding: padding_idx -5 ... 4 rows",
    "F.one_hot([-1], 3)": "one_hot: ... 0 to 2",
    "F.one_hot(np.ones(2), 3)": "one_hot: ... integers ... float64",
    # convolution
    "nn.Conv2d(3, 8, 3)(ones(2, 4, 8, 8))":
        "convolution: ... (2, 4, 8, 8) ... (8, 3, 3, 3) ... 4 channels ... 3",
    "nn.Conv2d(3, 8, 5)(ones(2, 3, 4, 9))": "kernel ... (5, 5) ... (4, 9)",
    "nn.Conv2d(3, 8, 3, dilation=4, padding=1)(ones(2, 3, 6, 6))": "kernel ... (9, 9) ... (8, 8)",
    "nn.Conv2d(3, 8, 3)(ones(2, 3, 8))": "convolution: ... (1, 2, 3, 8)",
    "nn.Conv2d(3, 8, 3)(X)": "Conv2d: ... (N, C, H, W) ... (C, H, W) ... (2, 3)",
    "nn.Conv1d(3, 8, 3)(ones(2, 3, 8, 8))": "Conv1d: ... (N, C, L) ... (C, L) ... (2, 3, 8, 8)",
    "nn.Conv2d(3, 8, 3, groups=2)": "Conv2d: in_channels ... groups, got 3, 2",
    "nn.Conv2d(4, 7, 3, groups=2)": "Conv2d: out_channels ... groups, got 7, 2",
    "nn.Conv2d(3, 8, (3, 3, 3))": "Conv2d: kernel_size ... int or 2 ints ... (3, 3, 3)",
    "nn.Conv2d(3, 8, 3, padding=-1)": "padding ... 0 ... -1",
    "nn.Conv2d(3, 8, 3, padding='full')": "Conv2d: padding ... \"same\" or \"valid\" ... 'full'",
    "nn.Conv2d(3, 8, 3, stride=2, padding='same')":
        'Conv2d: padding="same" ... stride ... 1 ... (2, 2)',
    "nn.Conv2d(3, 8, 3, padding_mode='mirror')":
        "Conv2d: padding_mode ... reflect ... 'mirror'",
    "F.conv2d(ones(2, 3, 8, 8), ones(8, 3, 3, 3), ones(7))": "bias ... (8,) ... (7,)",
    "F.conv2d(ones(2, 3, 8, 8), ones(8, 3, 3))": "conv2d: ... weight ... 4 axes ... (8, 3, 3)",
    "F.conv1d(ones(2, 4, 8), ones(3, 2, 3), groups=2)": "3 channels ... 2 groups",
    "transposed2d(3, 8, 3)(ones(2, 4, 8, 8))": "4 channels ... 3",
    "transposed1d(3, 8, 3, stride=2, output_padding=2)(ones(2, 3, 4))":
        "output_padding (2,) ... stride (2,) ... dilation (1,)",
    "transposed2d(3, 8, 3, dilation=(2, 1), output_padding=1)(ones(2, 3, 4, 4))":
        "output_padding (1, 1) ... stride (1, 1) ... dilation (2, 1)",
    "transposed1d(3, 8, 2, padding=3)(ones(2, 3, 4))": "(-1,) ... padding (3,)",
    "nn.ConvBNReLU2d(3, 8, 3, groups=2)": "Conv2d: in_channels ... groups",
    "nn.SEModule(8)": "SEModule: reduction (16) must be at most in_channels (8)",
    "nn.SEModule(4, 2)(ones(2, 4, 5))": "SEModule: images ... got (2, 4, 5)",
    "nn.SelectiveKernel(3, 8, [3], reduction=9)": "reduction ... out_channels",
    "nn.SelectiveKernel(3, 16, [3, 4])": "odd numbers ... got [3, 4] ... padding=",
    "nn.SelectiveKernel(3, 16, [])": "SelectiveKernel: kernel_sizes ... got []",
    # pooling, padding and resampling
    "nn.MaxPool2d(3)(ones(2, 3, 2, 5))": "max_pool2d: ... (3, 3) ... (2, 3, 2, 5)",
    "nn.MaxPool2d(2, padding=2)(ones(2, 3, 5, 5))":
        "max_pool2d: padding (2, 2) ... half ... (2, 2)",
    "nn.AvgPool1d(2)(ones(2, 3, 4, 5))": "avg_pool1d: ... (N, C, L) ... (C, L)",
    "nn.AvgPool2d((2, 2, 2))(ones(2, 4, 4))": "avg_pool2d: kernel_size ... int or 2",
    "nn.MaxPool1d(2, stride=0)(X)": "max_pool1d: stride ... 1",
    "nn.AdaptiveAvgPool2d(2)(ones(2, 3, 0, 5))": "adaptive_avg_pool2d: ... (2, 3, 0, 5)",
    "nn.AdaptiveMaxPool2d((2, 2, 2))(ones(2, 3, 4, 5))":
        "adaptive_max_pool2d: output_size ... int or 2 ... (2, 2, 2)",
    "nn.AdaptiveMaxPool1d(0)(ones(2, 3, 4))": "output_size ... 1",
    "F.pad(X, 1)": "pad: ints ... the last axis first, got 1; minigrad.pad",
    "F.pad(X, ((0, 0), (1, 1)))": "pad: ints ... got ((0, 0), (1, 1))",
    "F.pad(X, (1,))": "pad: two widths each for up to 2 axes expected, got (1,)",
    "F.pad(X, (1, 1) * 3)": "pad: two widths each for up to 2 axes",
    "F.pad(X, (1, 1), 'edge')": "pad: mode must be ... 'edge'",
    "F.pad(X, (1, 1), 'reflect', 2.0)": "pad: a value is for ... got mode='reflect'",
    "F.pad(X, (-2, -2))": "pad: more elements than ... got (2, 3)",
    "F.interpolate(X, 2)": "interpolate: ... (N, C, L) or (N, C, H, W) ... (2, 3)",
    "F.interpolate(X[None], 2, mode='bilinear')": "(N, C, H, W) ... got (1, 2, 3)",
    "F.interpolate(X[None])": "size or scale_factor expected",
    "F.interpolate(X[None], 2, 2)": "got size=2, scale_factor=2",
    "F.interpolate(X[None], (2, 2))": "size must be an int or 1 ints",
    "F.interpolate(X[None], scale_factor=(2, 2))": "a number or 1 of them expected",
    "F.interpolate(X[None], scale_factor=0.1)": "leaves sizes (0,)",
    "F.interpolate(X[None], 2, align_corners=True)": "align_corners is for",
    "F.interpolate(X[None, :, :0], 2)": "elements to resize expected, got (1, 2, 0)",
    "F.interpolate(X[None].astype('int64'), 2, mode='linear')": "floats ... got int64",
    "nn.Upsample(2, mode='cubic')(ones(1, 2, 3))": "interpolate: mode must be ... 'cubic'",
    "F.pixel_shuffle(X[None], 2)": "divisible by 4 expected, got (1, 2, 3)",
    "F.unfold(X[None], 3)": "window (3, 3) does not fit into (2, 3)",
    "F.unfold(X, 2)": "unfold: ... (C, H, W) expected, got (2, 3)",
    "F.fold(X, 2, 2)": "fold: ... C·4, 1) ... got (2, 3)",
    "F.grid_sample(GRID, POINTS, 'bicubic')": "grid_sample: mode must be ... 'bicubic'",
    "F.grid_sample(GRID, POINTS, padding_mode='wrap')": "padding_mode must be ... 'wrap'",
    "F.grid_sample(GRID, POINTS[:1])": "grid_sample: ... (2, 1, 3, 3) and (1, 4, 4, 2)",
    "F.affine_grid(ones(1, 2, 3), (2, 1, 4, 4))": "affine_grid: ... (2, 2, 3) ... (1, 2, 3)",
    "F.max_unpool2d(*UNPOOLED, 2, output_size=[5, 5])": "max_unpool2d: ... (2, 2) ... [5, 5]",
    "F.max_unpool2d(UNPOOLED[0], UNPOOLED[1][:1], 2)":
        "max_unpool2d: ... (2, 1, 1, 1) and (1, 1, 1, 1)",
    # recurrence
    "LSTM(ones(2, 5, 4))": "LSTM: ... (N, L, I) ... (L, I) ... I = 3 ... (2, 5, 4)",
    "nn.GRU(3, 4)(ones(3))": "GRU: ... (L, N, I) ... (L, I) ... I = 3 ... (3,)",
    "LSTM(ones(2, 0, 3))": "LSTM: ... with steps ... (2, 0, 3)",
    "LSTM(STEPS, STATE)": "LSTM: ... pair (h_0, c_0) ... Tensor",
    "LSTM(STEPS, (STATE,) * 3)": "LSTM: ... pair (h_0, c_0) ... tuple",
    "LSTM(STEPS, (STATE, ones(2, 1, 4)))": "LSTM: c_0 ... (1, 2, 4)",
    "GRU(STEPS, STATE)": "GRU: h_0 ... (2, 2, 4)",
    "nn.RNN(3, 4, nonlinearity='gelu')": "RNN: nonlinearity ... \"tanh\" or \"relu\" ... 'gelu'",
    "nn.LSTM(3, 4, 2, dropout=1.5)": "LSTM: dropout ... 0 to 1 ... 1.5",
    "nn.LSTMCell(3, 4)(STEPS)": "LSTMCell: ... (N, I) or (I,) ... nn.LSTM) ... got (2, 5, 3)",
    "nn.GRUCell(3, 4)(X, X)": "GRUCell: h ... (2, 4) ... (2, 3)",
    "pack(LONG, [1, 2, 3, 4], True)":
        "pack_padded_sequence: ... must not grow ... enforce_sorted=False",
    "pack(LONG, [5, 0, 1, 1], True)": "pack_padded_sequence: 4 lengths from 1 to 5",
    "pack(LONG, [6, 1, 1, 1], True)": "of shape (4, 5, 3) expected, got [6, 1, 1, 1]",
    "pack(LONG, [1, 1], True)": "4 lengths",
    "pack(ones(0, 5, 3), [], True)": "pack_padded_sequence: ... (0, 5, 3)",
    "pack(LONG, [1.0, 1, 1, 1], True)":
        "pack_padded_sequence: lengths must be integers, got float64",
    "rnn.pad_sequence([])": "pad_sequence: ... got []",
    "rnn.pad_sequence([X, ones(2, 4)])": "pad_sequence: ... equal but for the first axis",
    "rnn.pad_sequence([X], padding_side='up')": "padding_side must be ... 'up'",
    "rnn.pad_packed_sequence(PACKED, total_length=2)": "total_length must be at least 3 ... got 2",
    "GRU(PACKED._replace(data=PACKED.data[:, :2]))":
        "GRU: packed data ... I = 3 expected, got (8, 2)",
    "GRU(PACKED._replace(data=PACKED.data[:7]))": "PackedSequence: batch_sizes ... add up to 7",
    "nn.Linear(3, 2)(PACKED)": "linear: a tensor expected, got PackedSequence",
    # positions
    "nn.SinusoidalPosEmbedding(3)(Q)": "position 3 is given, there are only 3: raise seq_len",
    "nn.SinusoidalPosEmbedding(None, 8)(Q)": "(N, L, 8)",
    "nn.SinusoidalPosEmbedding()(Q[..., :5])": "even",
    "nn.SinusoidalPosEmbedding()(Q, offset=-1)": "offset ... 0",
    "nn.SinusoidalPosEmbedding()(Q[0, 0])": "(N, L, D)",
    "nn.SinusoidalPosEmbedding()(minigrad.tensor([[1, 2]]))": "float",
    "nn.LearnedPosEmbedding(4, 6)(Q, 1)": "position 4 is given, there are only 4: raise max_len",
    "nn.LearnedPosEmbedding(4, 5)(Q)": "(N, L, 5)",
    "nn.RotaryPosEmbedding(5)": "embed_dim ... even",
    "nn.RotaryPosEmbedding(8)(Q)": "(..., L, 8)",
    "nn.RotaryPosEmbedding(6, 3)(Q)": "position 3 is given, there are only 3: raise max_seq_len",
    "nn.RotaryPosEmbedding(6, 3)(Q, [0, 1, 2, 3])":
        "position 3 is given, there are only 3: raise max_seq_len",
    "F.rotary_pos_embedding(Q[..., :5])": "D even",
    "F.rotary_pos_embedding(Q, [0, 1])": "ints ... (4,) ... (2, 4)",
    "F.rotary_pos_embedding(Q, [0, 1, 2, 3], offset=2)": "offset",
    "F.rotary_pos_embedding(Q, offset=-1)": "offset ... 0",
    "F.rotary_pos_embedding(minigrad.tensor([[1, 2]]))": "float",
    "F.sinusoidal_encoding(4, 5)": "sinusoidal_encoding: d_model ... even ... 5",
    "F.add_positional_encoding(ones(1, 5, 4), ones(4, 4))":
        "max_len at least seq_len, expected, got (1, 5, 4) and (4, 4)",
    "F.add_positional_encoding(ones(1, 5, 4), ones(5, 1))": "add_positional_encoding: x",
    "F.learned_positional_encoding(-1, 4)": "max_length ... 0 ... -1",
    # attention
    "nn.MultiHeadAttention(10, 3)": "MultiHeadAttention: embed_dim ... num_heads",
    "nn.MultiHeadAttention(4, 2, 2)": "MultiHeadAttention: dropout ... 2",
    "nn.MultiHeadAttention(8, 4, num_kv_heads=3)": "MultiHeadAttention: num_",
    "nn.MultiHeadAttention(6, 2, rope=nn.RotaryPosEmbedding(8))(Q, Q, Q)": "(..., L, 8) ... 3)",
    "nn.MultiHeadAttention(6, 2, rope=nn.RotaryPosEmbedding())(Q, Q, Q)": "even ... 3)",
    "ATTENTION(Q[0], Q, Q)": "query ... (N, L, 6) ... (4, 6)",
    "ATTENTION(Q, K, Q)": "key ... (N, S, 6) ... (2, 5",
    "ATTENTION(Q, Q, K)": "value ... (N, S, 6) ... (2, 5, 3)",
    "ATTENTION(Q, Q, Q[:, :3])": "key and value ... length",
    "ATTENTION(Q, ones(3, 5, 6), ones(3, 5, 6))": "batch",
    "ATTENTION(Q, ones(1, 5, 6), ones(1, 5, 6))": "batch",
    "nn.Sequential(encoder(6, 2))(ones(2, 4, 5))": "[in 0.self_attn]",
    "encoder(6, 2)(Q, bools(4, 4, 4))": "attn_mask: ... [in self_attn]",
    "encoder(6, 2)(Q, None, np.zeros((2, 4)))": "key_padding_mask: ... bool ... [in self_attn]",
    "encoder(6, 2, activation='swish')": '"relu", "gelu" ... \'swish\'',
    "encoder(6, 2, activation=3)": "name ... function ... 3",
    "nn.Transformer(6, 2, 1, 1)(ones(3, 4, 6), Q)": "memory ... batch ... decoder.layers.0]",
    "attend(ones(3), K, K)": "query (3,)",
    "attend(ones(4, 3), ones(5, 2), ones(5, 2))": "query (4, 3), key (5, 2)",
    "attend(ones(4, 3), ones(5, 3), ones(6, 2))": "key (5) ... value (6)",
    "attend(ones(2, 4, 3), ones(3, 5, 3), ones(3, 5, 2))": "leading axes",
    "attend(X, X, X, bools(3, 2))": "attn_mask: ... (3, 2) ... (2, 2)",
    "nn.ScaledDotProductAttention(dropout_p=3)": "dropout_p ... 0 to 1 ... 3",
    "F.compute_attention_scores(X, ones(2, 4))": "compute_attention_scores: ... (2, 3) and (2, 4)",
    "F.apply_attention_mask(X, np.ones((2, 3)))": "apply_attention_mask: a bool mask",
    "F.apply_attention_mask(X, bools(4, 2, 3))": "apply_attention_mask: ... (2, 3) and (4, 2, 3)",
    "F.apply_attention_mask(X[:1], bools(2, 3))": "apply_attention_mask: ... got (1, 3) and (2, 3)",
    "F.split_heads(ones(2, 3, 5), 2)": "split_heads: d_model (5) ... 2 heads",
    "F.split_heads(ones(3, 4), 2)": "split_heads: x ",
    "F.merge_heads(ones(3, 4))": "merge_heads: x ",
    "F.create_causal_mask(-1)": "seq_length ... 0 ... -1",
    "F.create_padding_mask([3, 5], 4)": "create_padding_mask: ... 0 to 4 ... got 5",
    "F.create_padding_mask([-1], 4)": "-1",
    "F.create_padding_mask([1.0], 4)": "integer",
    "F.create_padding_mask(3, 4)": "(batch,) ... ()",
    "F.feed_forward(X, ones(3, 4), ones(3), ones(4, 3), ones(3))": "feed_forward: b1 ... (4,)",
    "additive(K, K, K, ones(3, 4), ones(4, 3), ones(4))":
        "additive_attention: W_q (3, 4), W_k (3, 4) and v ... got (3, 4) and (4, 3) and (4,)",
    "nn.AdditiveAttention(2, 3, 4)(K, K, K)":
        "AdditiveAttention: query of shape (N, L, 2) ... [in AdditiveAttention]",
    "nn.AdditiveAttention(3, 3, 4)(X, X, X)": "AdditiveAttention: query ... (N, L, 3)",
    "nn.MultiHeadDotProductAttention(4, 4, 4, 10, 3)":
        "MultiHeadDotProductAttention: hidden_size ... num_heads ... 10, 3",
    "SINGLE(K, V, V)": "DotProductAttention: query of shape (N, L, 6) ... (2, 5, 3)",
    "SINGLE(Q[0], K[0], V[0])": "query of shape (N, L, 6)",
    "SINGLE(Q, K, V[:, :1])": "key and value ... length",
    "SEVERAL(Q, K, V, None, bools(2, 2, 4, 5))": "attn_mask: ... [in heads.0]",
    "SEVERAL(Q, K, V, np.zeros((2, 5)))": "key_padding_mask: ... bool",
    "nn.TransformerEncoderBlock(10, 3)": "embed_dim ... num_heads",
    "nn.TransformerBlock(1, 8, 2, 8)": "TransformerBlock: ... equal ... got 1, 8 and 8",
    "nn.TransformerBlock(8, 8, 2, 1)": "TransformerBlock: ... equal ... got 8, 8 and 1",
    "nn.TransformerBlock(8, 8, 3, 8)": "TransformerBlock: hidden_dim ... num_heads ... 8, 3",
    "BLOCK(ones(2, 4, 7))": "linear: ... (2, 4, 7) ... [in query]",
    "BLOCK(ones(1, 2, 4, 6))": "query of shape (N, L, 6) ... (1, 2, 4, 6) [in attention]",
    **{
        f"attend(ones(2, {heads}, 4, 3), *[ones(2, 2, 5, 3)] * 2, enable_gqa=True)":
            f"H divisible by G expected, got (2, {heads}, 4, 3) and"
        for heads in (3, 5)
    },
    "attend(ones(2, 4, 4, 3), *[ones(2, 2, 5, 3)] * 2)": "do not broadcast",
    # losses
    "F.l1_loss(X, X, reduction='')": "reduction ... got ''",
    "F.huber_loss(X, X, delta=0)": "delta ... 0",
    "F.binary_cross_entropy(1.1 * X, X)": "binary_cross_entropy: ... input",
    "F.binary_cross_entropy(-0.1 * X, X)": "binary_cross_entropy: ... input",
    "F.binary_cross_entropy(np.nan * X, X)": "binary_cross_entropy: ... input",
    "F.cosine_similarity(X, ones(2, 4))": "shapes (2, 3), (2, 4) do not broadcast",
    "F.pairwise_distance(X, X.T)": "shapes (2, 3) and (3, 2) do not broadcast",
    "F.cosine_embedding_loss(X, X, [1, 0])": "must be 1 or -1, got [1, 0]",
    "F.cosine_embedding_loss(X, X, [1])": "got (2, 3) and (1,)",
    "F.triplet_margin_loss(X, X, X[:1])": "anchor and negative ... got (2, 3) and (1, 3)",
    "F.margin_ranking_loss(X, X, [1.0])": "input and target ... got (2, 3) and (1,)",
    "F.gaussian_nll_loss(X, X, -X)": "gaussian_nll_loss: var must not be negative",
    "F.gaussian_nll_loss(X, X, X[:, :2])": "var of one shape expected, got (2, 3) and (2, 2)",
    **{
        f"F.nll_loss(X, {target})": f"nll_loss: {message}"
        for target, message in (
            ("[0, 3]", "... target 3 ... 0 to 2"), ("[-1, 0]", "... ignore_index=-1"),
            ("[0.0, 1.0]", "... class indices"), ("[0, 1, 2]", "... target ... (2,) ... (3,)"),
            ("IDS, np.ones(2)", "... weight ... (3,)"),
        )
    },
    "F.cross_entropy(X, [[0.5, 0.5]])": "cross_entropy: ... one shape ... got (2, 3) and (1, 2)",
    "F.cross_entropy(X, [[0.5, 0.5, -0.5]] * 2)": "target must hold probabilities, got -0.5",
    "F.cross_entropy(X, [[0.5, 0.5, np.nan]] * 2)": "target must hold probabilities, got nan",
    "F.cross_entropy(X, SHARES, ignore_index=1)": "cross_entropy: ignore_index is for classes",
    "F.cross_entropy(X, SHARES, weight=[1.0])": "a weight of shape (3,) expected, got (1,)",
    "F.cross_entropy(X, SHARES, label_smoothing=2.0)": "label_smoothing must be a number from",
    "F.cross_entropy(X, SHARES, reduction='all')": 'reduction must be "mean", "sum" or "none"',
    # initialization
    "nn.init.xavier_uniform(ones(3))": "(fan_out, fan_in, ...)",
    "nn.init.kaiming_normal(ones(3))": "kaiming_normal_: ... shape",
    "nn.init.kaiming_uniform(X, 'fan')": "mode ... fan",
    "nn.init.calculate_gain('swish')": "linear ... 'swish'",
    "nn.init.normal(minigrad.zeros(2, dtype=int))": "int64",
    "nn.init.trunc_normal(ones(3), 9.0)": "trunc_normal_: hardly any sample of mean 9.0",
    "nn.init.trunc_normal(ones(3), a=1.0, b=1.0)": "trunc_normal_: b must be a number above 1.0",
    "nn.init.orthogonal(ones(3))": "orthogonal_: ... got (3,)",
    "nn.init.eye(ones(3))": "eye_: a matrix expected, got (3,)",
    "nn.init.sparse(ones(3), 0.5)": "sparse_: a matrix ... (3,)",
    "nn.init.sparse(ones(3, 3), 1.5)": "sparse_: sparsity ... 1.5",
    "nn.init.dirac(ones(3, 3))": "dirac_: ... (3, 3)",
    "nn.init.dirac(ones(3, 3, 1), 2)": "dirac_: ... groups=2 ... (3, 3, 1)",
    # layers that learn their size
    "nn.ModuleDict([nn.ReLU()])": "ModuleDict: a dict, or pairs of ... expected, got [ReLU()]",
    "nn.ParameterDict(3)": "ParameterDict: a dict, or pairs of ... expected, got 3",
    "nn.Embedding.from_pretrained(ones(3))": "Embedding: ... got (3,)",
    "nn.EmbeddingBag.from_pretrained([1.0])": "EmbeddingBag: ... got (1,)",
    "nn.LazyLinear(3)(ones(2, 0))": "LazyLinear: in_features ... above 0 ... got 0",
    "nn.LazyConv1d(4, 2, groups=2)(ones(2, 3, 5))": "LazyConv1d: ... by groups (2), got 3",
    "nn.LazyBatchNorm1d()(ones(2))": "LazyBatchNorm1d: num_features ... got 0",
}  # fmt: skip


@pytest.mark.parametrize("call", REFUSALS)
def test_it_says_what_came(call: str) -> None:
    with pytest.raises((TypeError, ValueError, IndexError), match=gist(REFUSALS[call])):
        eval(call, {**globals(), "F": F})
