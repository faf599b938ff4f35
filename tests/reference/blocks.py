"""Parts of decoders in plain torch, float32, one sequence at a time: x is [tokens, features]."""

import math

import torch
from torch.nn.functional import gelu, normalize, silu

__all__ = ["alibi", "attend", "gelu", "layer_norm", "linear", "normalize", "rms_norm", "rotate", "silu"]


def linear(x, weights, name):
    """torch.nn.Linear: the weight is [out, in], the bias optional."""
    y = x @ weights[f"{name}.weight"].T
    return y + weights[f"{name}.bias"] if f"{name}.bias" in weights else y


def rms_norm(x, weight, eps):
    return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + eps) * weight


def layer_norm(x, weight, bias, eps):
    return torch.nn.functional.layer_norm(x, x.shape[-1:], weight, bias, eps)


def rotate(x, base, dim, pairs=False):
    """RoFormer's rotation of the first `dim` features of x [tokens, heads, head_dim]: of halves, or
    of neighbouring pairs."""
    frequencies = base ** (-torch.arange(0, dim, 2).float() / dim)
    angles = torch.outer(torch.arange(len(x)).float(), frequencies)[:, None]
    cosine, sine = angles.cos(), angles.sin()
    turned, rest = x[..., :dim], x[..., dim:]
    if pairs:
        a, b = turned[..., 0::2], turned[..., 1::2]
        turned = torch.stack((a * cosine - b * sine, b * cosine + a * sine), -1).flatten(-2)
    else:
        a, b = turned.chunk(2, -1)
        turned = torch.cat((a * cosine - b * sine, b * cosine + a * sine), -1)
    return torch.cat((turned, rest), -1)


def alibi(tokens, heads):
    """[heads, tokens, tokens], after the original code of arXiv 2108.12409."""

    def slopes(count):
        if math.log2(count).is_integer():
            start = 2 ** (-(2 ** -(math.log2(count) - 3)))
            return [start**i for i in range(1, count + 1)]
        closest = 2 ** math.floor(math.log2(count))
        return slopes(closest) + slopes(2 * closest)[0::2][: count - closest]

    position = torch.arange(tokens)
    distance = (position[None, :] - position[:, None]).float()
    return torch.tensor(slopes(heads))[:, None, None] * distance


def attend(q, k, v, scale, bias=None):
    """Causal attention. q: [tokens, heads, head_dim], k and v: [tokens, kv_heads, head_dim]; the
    heads of a group follow one another. Returns [tokens, heads * head_dim]."""
    group = q.shape[1] // k.shape[1]
    k, v = k.repeat_interleave(group, 1), v.repeat_interleave(group, 1)
    scores = torch.einsum("qhd,khd->hqk", q, k) * scale
    if bias is not None:
        scores = scores + bias
    future = torch.ones(len(q), len(q), dtype=torch.bool).triu(1)
    shares = scores.masked_fill(future, -torch.inf).softmax(-1)
    return torch.einsum("hqk,khd->qhd", shares, v).flatten(1)
