#!/usr/bin/env python3
"""Trains small tokenizers and writes what Hugging Face, SentencePiece and llama.cpp encode with them.

Usage: tools/make_text_goldens.py [tokenizers|gguf|FILE.gguf]...   (default: tokenizers gguf)

Needs tokenizers, transformers, sentencepiece, gguf and llama-cpp-python. Writes to tests/data/text:
  tokenizers/NAME/    a Hugging Face folder, and ids.txt: a line for each line of corpus.jsonl
  gguf/NAME.json      a vocabulary as GGUF metadata, and gguf/KIND.txt: llama.cpp's ids with it
  models/NAME.txt     llama.cpp's ids with the vocabulary of NAME.gguf, which is not kept here
A line of ids.txt is "IDS PLAIN TEXT [id...]": hashes (FNV-1a folded to 32 bits) of the ids with special
tokens, of those of the text in which special tokens are not looked for, and of the decoded text
("-" where the reference has no such notion); every 40th line has the ids in full.
"""
import json
import pathlib
import shutil
import struct
import sys
import tempfile

import make_gguf_goldens
import make_text_corpus

ROOT = pathlib.Path(__file__).resolve().parent.parent / "tests/data/text"
LINES = list(make_text_corpus.lines())
TRAINING = [line for line in LINES if line.strip()]
SPECIALS = ["<|endoftext|>", "<|im_start|>", "<|im_end|>", "<pad>"]
LLAMA3_SPLIT = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}"
    r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)


def fnv(data):
    value = 0xCBF29CE484222325
    for byte in data:
        value = (value ^ byte) * 0x100000001B3 & (2**64 - 1)
    return f"{value >> 32 ^ value & 0xFFFFFFFF:08x}"


def hash_ids(ids):
    return fnv(struct.pack(f"<{len(ids)}I", *ids))


def write_ids(path, rows):
    """rows: (ids, plain ids or None, text or None) for each line."""
    with path.open("w") as file:
        for at, (ids, plain, text) in enumerate(rows):
            fields = [hash_ids(ids), "-" if plain is None else hash_ids(plain)]
            fields.append("-" if text is None else fnv(text.encode()))
            if at % 40 == 0:
                fields += map(str, ids)
            file.write(" ".join(fields) + "\n")


def folder(name):
    path = ROOT / "tokenizers" / name
    path.mkdir(parents=True, exist_ok=True)
    return path


def write_config(path, **config):
    (path / "tokenizer_config.json").write_text(json.dumps(config, indent=1, ensure_ascii=False) + "\n")


def encode_with_transformers(path, plain=True):
    from transformers import PreTrainedTokenizerFast

    tokenizer = PreTrainedTokenizerFast.from_pretrained(str(path))
    backend = tokenizer._tokenizer
    rows = []
    for line in LINES:
        ids = tokenizer.encode(line)
        rows.append([ids, None, tokenizer.decode(ids, clean_up_tokenization_spaces=False)])
    if plain:
        backend.encode_special_tokens = True
        for row, line in zip(rows, LINES):
            row[1] = backend.encode(line, add_special_tokens=False).ids
    write_ids(path / "ids.txt", rows)


def train_byte_level(split, vocab=1400):
    from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers, trainers

    tokenizer = Tokenizer(models.BPE())
    parts = [pre_tokenizers.Split(Regex(split), "isolated")] if split else []
    parts.append(pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=not split))
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(parts)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=vocab, special_tokens=SPECIALS, show_progress=False,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
    )
    tokenizer.train_from_iterator(TRAINING, trainer)
    return tokenizer


def make_byte_level():
    from tokenizers import AddedToken, processors

    path = folder("byte_level")
    tokenizer = train_byte_level(LLAMA3_SPLIT)
    tokenizer.add_tokens([
        AddedToken("<tool>", special=False, normalized=False),
        AddedToken("AddedWord", single_word=True, special=False),
        AddedToken("<mask>", lstrip=True, special=True),
        AddedToken("</tool>", rstrip=True, special=False, normalized=False),
    ])
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<|endoftext|> $A", special_tokens=[("<|endoftext|>", 0)])
    tokenizer.save(str(path / "tokenizer.json"), pretty=False)
    write_config(path, bos_token="<|endoftext|>", eos_token="<|im_end|>", pad_token="<pad>",
                 tokenizer_class="PreTrainedTokenizerFast")
    encode_with_transformers(path)

    # The same without a post-processor of its own, completed by the files beside it.
    path = folder("byte_level_completed")
    tokenizer = train_byte_level(None, 900)
    tokenizer.save(str(path / "tokenizer.json"), pretty=False)
    added = {"900": {"content": "<tool>", "special": False, "normalized": False, "lstrip": False,
                     "rstrip": False, "single_word": False},
             "901": {"content": "<|user_data|>", "special": True, "normalized": False, "lstrip": True,
                     "rstrip": True, "single_word": False}}
    write_config(path, bos_token="<|im_start|>", eos_token={"content": "<|im_end|>", "__type": "AddedToken"},
                 add_bos_token=True, add_eos_token=True, added_tokens_decoder=added,
                 tokenizer_class="PreTrainedTokenizerFast")
    encode_with_transformers(path)


def make_word_piece():
    from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers

    path = folder("word_piece")
    specials = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.decoder = decoders.WordPiece()
    tokenizer.train_from_iterator(
        TRAINING[:700], trainers.WordPieceTrainer(vocab_size=1200, special_tokens=specials, show_progress=False))
    ids = [(token, tokenizer.token_to_id(token)) for token in ("[CLS]", "[SEP]")]
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1", special_tokens=ids)
    tokenizer.save(str(path / "tokenizer.json"), pretty=False)
    write_config(path, cls_token="[CLS]", sep_token="[SEP]", unk_token="[UNK]", pad_token="[PAD]",
                 mask_token="[MASK]", tokenizer_class="PreTrainedTokenizerFast")
    encode_with_transformers(path)


def train_sentencepiece(path, **options):
    import sentencepiece

    with tempfile.TemporaryDirectory() as scratch:
        text = pathlib.Path(scratch) / "text.txt"
        text.write_text("\n".join(line.replace("\n", " ").replace("\0", "") for line in TRAINING[:500]))
        sentencepiece.SentencePieceTrainer.train(
            input=str(text), model_prefix=f"{scratch}/m", minloglevel=2, num_threads=1, **options)
        shutil.copy(f"{scratch}/m.model", path / "tokenizer.model")
    return sentencepiece.SentencePieceProcessor(model_file=str(path / "tokenizer.model"))


def encode_sentencepiece(path, reference):
    """Transformers' conversion where a special token may occur; SentencePiece itself as `plain`."""
    from transformers import TokenizersBackend

    tokenizer = TokenizersBackend.from_pretrained(str(path))
    rows = []
    for line in LINES:
        ids = tokenizer.encode(line)
        rows.append((ids, None, tokenizer.decode(ids, clean_up_tokenization_spaces=False)))
    agreeing = sum(tokenizer.encode(line, add_special_tokens=False) == reference.encode(line) for line in LINES)
    print(f"{path.name}: transformers agrees with SentencePiece on {agreeing} of {len(LINES)} lines")
    write_ids(path / "ids.txt", rows)


def make_sentencepiece():
    common = {"user_defined_symbols": ["<tool>", "\u2581\u2581"], "control_symbols": ["<|im_start|>", "<|im_end|>"]}
    path = folder("spm_bpe")
    reference = train_sentencepiece(
        path, model_type="bpe", vocab_size=1400, byte_fallback=True, character_coverage=0.98,
        normalization_rule_name="identity", remove_extra_whitespaces=False, **common)
    write_config(path, bos_token="<s>", eos_token="</s>", unk_token="<unk>", add_bos_token=True, legacy=True)
    encode_sentencepiece(path, reference)

    path = folder("spm_unigram")
    reference = train_sentencepiece(path, model_type="unigram", vocab_size=2200, character_coverage=0.98,
                                    hard_vocab_limit=False, **common)
    write_config(path, bos_token="<s>", eos_token="</s>", unk_token="<unk>", add_eos_token=True, legacy=False)
    encode_sentencepiece(path, reference)


def make_unigram_json():
    """A tokenizer.json of the XLM-R kind from the unigram model."""
    from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors
    from sentencepiece import sentencepiece_model_pb2

    proto = sentencepiece_model_pb2.ModelProto()
    proto.ParseFromString((folder("spm_unigram") / "tokenizer.model").read_bytes())
    path = folder("unigram")
    tokenizer = Tokenizer(models.Unigram([(piece.piece, piece.score) for piece in proto.pieces], 0))
    tokenizer.normalizer = normalizers.Sequence([
        normalizers.Precompiled(proto.normalizer_spec.precompiled_charsmap),
        normalizers.Replace(" {2,}", " ")])
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    tokenizer.decoder = decoders.Metaspace()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>", pair="<s> $A </s> </s> $B </s>", special_tokens=[("<s>", 1), ("</s>", 2)])
    tokenizer.add_special_tokens(["<s>", "</s>", "<unk>"])
    tokenizer.save(str(path / "tokenizer.json"), pretty=False)
    write_config(path, bos_token="<s>", eos_token="</s>", unk_token="<unk>",
                 tokenizer_class="PreTrainedTokenizerFast")
    encode_with_transformers(path, plain=False)


def main():
    wanted = sys.argv[1:] or ["tokenizers", "gguf"]
    if "tokenizers" in wanted:
        make_byte_level()
        make_word_piece()
        make_sentencepiece()
        make_unigram_json()
    if "gguf" in wanted:
        make_gguf_goldens.make(ROOT, LINES, write_ids)
    for path in map(pathlib.Path, wanted):
        if path.suffix == ".gguf":
            (ROOT / "models").mkdir(exist_ok=True)
            rows = make_gguf_goldens.encode(path, LINES)
            # llama.cpp takes every "</s>" for an end of text; to Gemma it is a tag of HTML.
            rows = [(ids, None if "</s>" in line else plain, None) for (ids, plain, _), line in zip(rows, LINES)]
            write_ids(ROOT / "models" / f"{path.stem}.txt", rows)


if __name__ == "__main__":
    main()
