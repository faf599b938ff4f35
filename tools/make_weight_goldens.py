"""Writes tests/data/weights: small checkpoints by the formats' own libraries.

all-kinds.gguf has every kind of metadata and several tensor types; split-*.gguf is a model in three
parts; all-dtypes.safetensors has one tensor of each dtype that torch and we share.
"""

import pathlib

import gguf
import numpy as np
import torch
from gguf import GGMLQuantizationType, GGUFValueType
from safetensors.torch import save_file

FOLDER = pathlib.Path(__file__).parent.parent / "tests" / "data" / "weights"


def write_gguf(writer):
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def write_all_kinds():
    writer = gguf.GGUFWriter(FOLDER / "all-kinds.gguf", "llama")
    writer.add_custom_alignment(64)
    writer.add_uint8("kind.u8", 200)
    writer.add_int8("kind.i8", -100)
    writer.add_uint16("kind.u16", 60000)
    writer.add_int16("kind.i16", -30000)
    writer.add_uint32("kind.u32", 4000000000)
    writer.add_int32("kind.i32", -2000000000)
    writer.add_uint64("kind.u64", 2**63)
    writer.add_int64("kind.i64", -(2**62))
    writer.add_float32("kind.f32", 0.5)
    writer.add_float64("kind.f64", 1e-300)
    writer.add_bool("kind.bool", True)
    writer.add_string("kind.string", "naïve 猫")
    writer.add_array("kind.strings", ["a", "", "ccc"])
    writer.add_array("kind.integers", [1, -2, 3])
    writer.add_array("kind.floats", [0.5, 1.5])
    writer.add_array("kind.booleans", [True, False])
    writer.add_key_value("kind.nested", [[1, 2], [3]], GGUFValueType.ARRAY)
    random = np.random.default_rng(5)
    writer.add_tensor("f32", np.arange(6, dtype=np.float32).reshape(2, 3))
    writer.add_tensor("f16", np.arange(4, dtype=np.float16))
    values = random.normal(0, 1, (2, 64)).astype(np.float32)
    quantised = gguf.quants.quantize(values, GGMLQuantizationType.Q8_0)
    writer.add_tensor("q8_0", quantised, raw_dtype=GGMLQuantizationType.Q8_0)
    writer.add_tensor("i32", np.arange(24, dtype=np.int32).reshape(2, 3, 4))
    write_gguf(writer)


def write_split():
    writer = gguf.GGUFWriter(FOLDER / "split.gguf", "llama", split_max_tensors=1)
    writer.add_block_count(1)
    for i in range(3):
        writer.add_tensor(f"part{i}", np.full(4, i, dtype=np.float32))
    write_gguf(writer)


def write_all_dtypes():
    kinds = {
        "F64": torch.float64, "F32": torch.float32, "F16": torch.float16, "BF16": torch.bfloat16,
        "F8_E4M3": torch.float8_e4m3fn, "F8_E5M2": torch.float8_e5m2, "I64": torch.int64,
        "I32": torch.int32, "I16": torch.int16, "I8": torch.int8, "U8": torch.uint8,
        "BOOL": torch.bool,
    }  # fmt: skip
    values = torch.tensor([[0.0, 1.0, 2.0], [3.0, 4.0, 8.0]])
    tensors = {name: values.to(kind) for name, kind in kinds.items()}
    save_file(tensors, FOLDER / "all-dtypes.safetensors", metadata={"format": "pt"})


FOLDER.mkdir(parents=True, exist_ok=True)
write_all_kinds()
write_split()
write_all_dtypes()
