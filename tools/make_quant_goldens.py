"""Writes tests/data/quant/<format>.bin: blocks of each ggml type and the values they stand for.

A file holds, little-endian: u32 blocks, u32 block bytes, u32 values a block, then the blocks, then
their float32 values. Where an encoder is defined bit for bit, <format>.encode.bin holds float32
values and the blocks they become instead.

The values come from the `gguf` Python package and, for types it does not decode, from ggml itself
in llama-cpp-python. Where both can, they must agree.
"""

import ctypes
import pathlib

import gguf
import llama_cpp
import numpy as np

FOLDER = pathlib.Path(__file__).parent.parent / "tests" / "data" / "quant"
RANDOM_BLOCKS = 6
# Zero, subnormal, one, largest, negative zero: what a half scale can be.
EXTREME_HALVES = [0x0000, 0x0001, 0x3C00, 0x7BFF, 0x8000]
GGML_ONLY = {"Q1_0": (41, 128, 18), "Q2_0": (42, 64, 18), "Q8_1": (9, 32, 36), "Q8_K": (15, 256, 292)}
# The layout of each type's halves, by byte offset.
HALVES = {
    "Q4_0": [0], "Q4_1": [0, 2], "Q5_0": [0], "Q5_1": [0, 2], "Q8_0": [0], "Q8_1": [0, 2],
    "Q2_K": [80, 82], "Q3_K": [108], "Q4_K": [0, 2], "Q5_K": [0, 2], "Q6_K": [208],
    "IQ2_XXS": [0], "IQ2_XS": [0], "IQ2_S": [0], "IQ3_XXS": [0], "IQ3_S": [0], "IQ1_S": [0],
    "IQ4_NL": [0], "IQ4_XS": [0], "TQ1_0": [52], "TQ2_0": [64], "Q1_0": [0], "Q2_0": [0],
}  # fmt: skip
ENCODED = ["BF16", "Q4_0", "Q4_1", "Q5_0", "Q5_1", "Q8_0"]


class TypeTraits(ctypes.Structure):
    _fields_ = [
        ("type_name", ctypes.c_char_p),
        ("block_values", ctypes.c_int64),
        ("interleave", ctypes.c_int64),
        ("block_bytes", ctypes.c_size_t),
        ("is_quantized", ctypes.c_bool),
        ("to_float", ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64)),
    ]


def load_ggml():
    path = pathlib.Path(llama_cpp.__file__).parent / "lib" / "libggml-base.so"
    library = ctypes.CDLL(str(path))
    library.ggml_get_type_traits.restype = ctypes.POINTER(TypeTraits)
    return library


def decode_by_ggml(library, ggml_type, blocks, block_values):
    """None where ggml has no decoder for the type."""
    traits = library.ggml_get_type_traits(ggml_type).contents
    if not traits.to_float:
        return None
    assert traits.block_bytes == blocks.shape[1] and traits.block_values == block_values
    values = np.empty(len(blocks) * block_values, dtype=np.float32)
    blocks = np.ascontiguousarray(blocks)
    traits.to_float(blocks.ctypes.data, values.ctypes.data, values.size)
    return values


def decode_by_layout(name, blocks):
    """Types that ggml keeps to itself: a scale times signed bytes."""
    if name == "Q8_1":
        scales = blocks[:, :2].copy().view(np.float16).astype(np.float32)
        return (scales * blocks[:, 4:36].copy().view(np.int8)).astype(np.float32).ravel()
    scales = blocks[:, :4].copy().view(np.float32)
    return (scales * blocks[:, 4:260].copy().view(np.int8)).astype(np.float32).ravel()


def make_blocks(random, name, block_bytes):
    blocks = random.integers(0, 256, (RANDOM_BLOCKS + 2, block_bytes), dtype=np.uint8)
    blocks[-2] = 0
    blocks[-1] = 0xFF
    for offset in HALVES.get(name, []):
        scales = np.float16(random.normal(0, 0.05, len(blocks)))
        blocks[:, offset : offset + 2] = scales.view(np.uint8).reshape(-1, 2)
        for i, half in enumerate(EXTREME_HALVES):
            blocks[i, offset : offset + 2] = np.array([half], dtype=np.uint16).view(np.uint8)
    if name == "Q8_K":
        blocks[:, :4] = np.float32(random.normal(0, 0.05, (len(blocks), 1))).view(np.uint8)
    if name == "IQ1_M":  # finite units: the top nibble of the last scale word is the half's
        blocks[:, 55] &= 0xBF
    return blocks


def same(a, b):
    return np.array_equal(a.view(np.uint32)[~np.isnan(a)], b.view(np.uint32)[~np.isnan(b)])


def decode(library, name, ggml_type, blocks, block_values):
    by_ggml = decode_by_ggml(library, ggml_type, blocks, block_values)
    try:
        kind = gguf.GGMLQuantizationType[name]
        by_gguf = gguf.quants.dequantize(blocks, kind).astype(np.float32).ravel()
    except (KeyError, NotImplementedError):
        by_gguf = None
    if by_gguf is not None and by_ggml is not None:
        assert same(by_gguf, by_ggml), f"gguf and ggml decode {name} differently"
    for values in (by_gguf, by_ggml):
        if values is not None:
            return values
    return decode_by_layout(name, blocks)


def write(path, block_values, blocks, parts):
    header = np.array([len(blocks), blocks.shape[1], block_values], dtype=np.uint32)
    path.write_bytes(b"".join(part.tobytes() for part in [header, *parts]))


def write_decoding(random, library, name, ggml_type, block_values, block_bytes):
    blocks = make_blocks(random, name, block_bytes)
    values = decode(library, name, ggml_type, blocks, block_values)
    write(FOLDER / f"{name.lower()}.bin", block_values, blocks, [blocks, values])


def write_encoding(random, name, block_values):
    kind = gguf.GGMLQuantizationType[name]
    count = 8 * max(block_values, 32)
    values = np.float32(random.normal(0, 1, count))
    values[: max(block_values, 32)] = 0
    values[-32:] *= np.float32(1e-6)
    blocks = gguf.quants.quantize(values, kind).view(np.uint8)
    blocks = blocks.reshape(count // block_values, -1)
    write(FOLDER / f"{name.lower()}.encode.bin", block_values, blocks, [values, blocks])


def main():
    FOLDER.mkdir(parents=True, exist_ok=True)
    random = np.random.default_rng(20)
    library = load_ggml()
    sizes = {
        kind.name: (kind.value, *gguf.GGML_QUANT_SIZES[kind])
        for kind in gguf.quants._type_traits
    }
    for name, (ggml_type, block_values, block_bytes) in sorted({**sizes, **GGML_ONLY}.items()):
        write_decoding(random, library, name, ggml_type, block_values, block_bytes)
    for name in ENCODED:
        write_encoding(random, name, gguf.GGML_QUANT_SIZES[gguf.GGMLQuantizationType[name]][0])


main()
