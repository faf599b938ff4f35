"""Small vocabularies as GGUF metadata and the ids with them (see make_text_goldens.py).

The ids are llama.cpp's, or Hugging Face's where llama.cpp only approximates: it leaves marks out of
letters (gpt-4o, tekken, kimi-k2), knows ASCII digits only (superbpe), looks past the end of a piece
(afmoe, tiny_aya, youtu), and drops accents and private characters otherwise than BERT and T5 do.
"""
import json
import pathlib
import tempfile

# A name of each kind of pre-tokenizer that llama.cpp knows.
KINDS = """
default gpt-2 starcoder llama-bpe dbrx glm4 jais-2 minicpm5 qwen2 qwen35 laguna ufakzeka seed-coder
bailingmoe exaone-moe gpt-4o granite-embed-multi-97m tiny_aya youtu tekken kimi-k2 superbpe deepseek-llm
deepseek-coder deepseek-v3 spark2_5 afmoe falcon bloom viking chameleon
""".split()
CASED = (
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+SUFFIX"
    r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*SUFFIX"
    r"|DIGITS| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
CONTRACTION = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
GPT4O = CASED.replace("SUFFIX", CONTRACTION).replace("DIGITS", r"\p{N}{1,3}")
HAN_LETTERS = GPT4O.replace(r"\p{M}]", r"\p{M}&&[^\p{Han}]]").replace("[\\r\\n/]*", "[\\r\\n]*")
DEEPSEEK3 = (
    "[!\"#$%&'()*+,\\-./:;<=>?@\\[\\\\\\]^_`{|}~][A-Za-z]+|[^\\r\\n\\p{L}\\p{P}\\p{S}]?[\\p{L}\\p{M}]+"
    "| ?[\\p{P}\\p{S}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+"
)
EAST_ASIAN = (
    "[\u4e00-\u9fff\u3400-\u4dbf\u8c48-\ufaff\u3040-\u309f\u30a0-\u30ff\uff65-\uff9f\u2f00-\u2fdf"
    "\u0e40-\u0e7f\u0e80-\u0eff\u1780-\u17ff\u1000-\u109f\uaa60-\uaa7f\ua9e0-\ua9ff\uac00-\ud7af"
    "\u1100-\u11ff]+"
)
YOUTU_EAST_ASIAN = (
    "[\uac00-\ud7a3\u3131-\u318e]+|[\uff01\u2026\u201c\u201d\u2018\u2019\u2014\uff1a\uff1b\uff0c"
    "\u3001-\u303f\ufe30-\ufe4f]+|[\u3105-\u312f]+|[\u4e00-\u9fa5\u3040-\u309f\u30a0-\u30ff]+"
)
# The splits of the models' own tokenizer.json: (regular expressions, ignore_merges, BOS).
PUBLISHED = {
    "gpt-4o": ([GPT4O], False, False),
    "granite-embed-multi-97m": ([GPT4O], True, False),
    "tiny_aya": ([r"\d{1,3}(?=(?:\d{3})*\b)", GPT4O], False, False),
    "youtu": ([YOUTU_EAST_ASIAN, GPT4O.replace(r"\p{N}{1,3}", r"\p{N}")], True, False),
    "tekken": ([CASED.replace("SUFFIX", "").replace("DIGITS", r"\p{N}")], True, True),
    "kimi-k2": ([r"[\p{Han}]+|" + HAN_LETTERS], False, False),
    "superbpe": ([r"\p{N}+", r"(?=(\d{3})+(?!\d))"], False, False),
    "afmoe": ([r"\p{N}{1,3}(?=(?:\p{N}{3})*(?!\p{N}))", EAST_ASIAN, DEEPSEEK3], False, False),
}
NORMAL, UNKNOWN, CONTROL, USER_DEFINED, BYTE = 1, 2, 3, 4, 6
SPECIALS = ["<|endoftext|>", "<|im_start|>", "<|im_end|>", "<tool>"]


def chosen(lines):
    """The lines that these goldens cover."""
    return [line for at, line in enumerate(lines) if at < 150 or at % 4 == 0]


def byte_pairs(lines):
    """Trained across the ends of words, so that every difference in splitting shows."""
    from tokenizers import Tokenizer, models, pre_tokenizers, trainers

    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    spelled = ("<", "[", ">", "]")
    training = [line for line in lines if line and not any(mark in line for mark in spelled)]
    tokenizer.train_from_iterator(training, trainers.BpeTrainer(
        vocab_size=2200, special_tokens=SPECIALS, show_progress=False,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet()))
    model = json.loads(tokenizer.to_str())["model"]
    tokens = [token for token, _ in sorted(model["vocab"].items(), key=lambda item: item[1])]
    types = [CONTROL if token.startswith("<|") and token in SPECIALS else NORMAL for token in tokens]
    types[tokens.index("<tool>")] = USER_DEFINED
    return {"model": "gpt2", "tokens": tokens, "types": types, "scores": [],
            "merges": [" ".join(merge) for merge in model["merges"]], "bos": 0, "eos": 2,
            "add_space_prefix": False, "remove_extra_whitespaces": False}


def sentencepiece(path, model):
    from sentencepiece import sentencepiece_model_pb2

    proto = sentencepiece_model_pb2.ModelProto()
    proto.ParseFromString(path.read_bytes())
    vocab = {"model": model, "tokens": [piece.piece for piece in proto.pieces],
             "types": [piece.type for piece in proto.pieces],
             "scores": [piece.score for piece in proto.pieces], "merges": [],
             "bos": 1, "eos": 2, "unk": 0, "add_bos": model == "llama", "add_eos": model == "t5",
             "add_space_prefix": proto.normalizer_spec.add_dummy_prefix,
             "remove_extra_whitespaces": proto.normalizer_spec.remove_extra_whitespaces}
    if proto.normalizer_spec.precompiled_charsmap:
        vocab["charsmap"] = proto.normalizer_spec.precompiled_charsmap.hex()
    return vocab


def word_pieces(path):
    words = json.loads(path.read_text())["model"]["vocab"]
    tokens, types = [], []
    for token, _ in sorted(words.items(), key=lambda item: item[1]):
        special = token.startswith("[") and token.endswith("]")
        types.append(CONTROL if special and token != "[UNK]" else UNKNOWN if special else NORMAL)
        plain = token[2:] if token.startswith("##") else "\u2581" + token
        tokens.append(token if special else plain)
    ids = {name: tokens.index(token) for name, token in
           {"bos": "[CLS]", "eos": "[SEP]", "sep": "[SEP]", "unk": "[UNK]"}.items()}
    return {"model": "bert", "tokens": tokens, "types": types, "scores": [], "merges": [], **ids,
            "add_space_prefix": False, "remove_extra_whitespaces": False}


def write_gguf(path, vocab, kind):
    import gguf

    writer = gguf.GGUFWriter(path, "llama")
    writer.add_tokenizer_model(vocab["model"])
    writer.add_tokenizer_pre(kind)
    writer.add_token_list(vocab["tokens"])
    writer.add_token_types(vocab["types"])
    if vocab["scores"]:
        writer.add_token_scores(vocab["scores"])
    if vocab["merges"]:
        writer.add_token_merges(vocab["merges"])
    if "charsmap" in vocab:
        writer.add_precompiled_charsmap(bytes.fromhex(vocab["charsmap"]))
    for name in ("bos", "eos", "unk", "sep"):
        if name in vocab:
            getattr(writer, f"add_{name}_token_id")(vocab[name])
    if "add_bos" in vocab:
        writer.add_add_bos_token(vocab["add_bos"])
        writer.add_add_eos_token(vocab["add_eos"])
    writer.add_add_space_prefix(vocab["add_space_prefix"])
    writer.add_remove_extra_whitespaces(vocab["remove_extra_whitespaces"])
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.close()


def encode_as_published(vocab, kind, lines):
    from tokenizers import AddedToken, Regex, Tokenizer, models, pre_tokenizers

    splits, ignore_merges, bos = PUBLISHED[kind]
    ids = {token: at for at, token in enumerate(vocab["tokens"])}
    merges = [tuple(merge.split(" ")) for merge in vocab["merges"]]
    tokenizer = Tokenizer(models.BPE(ids, merges, ignore_merges=ignore_merges))
    parts = [pre_tokenizers.Split(Regex(split), "isolated") for split in splits]
    parts.append(pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False))
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(parts)
    tokenizer.add_tokens([AddedToken(token, special=token != "<tool>", normalized=False) for token in SPECIALS])
    rows = [([vocab["bos"]] * bos + tokenizer.encode(line).ids, None, None) for line in lines]
    tokenizer.encode_special_tokens = True
    return [(ids, tokenizer.encode(line).ids, None) for (ids, _, _), line in zip(rows, lines)]


def encode_with_transformers(folder, lines, **options):
    from transformers import AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(str(folder), **options)
    return [(tokenizer.encode(line), None, None) for line in lines]


def encode(gguf_path, lines):
    """Rows for write_ids: with special tokens, and with their spellings as plain text."""
    import llama_cpp

    model = llama_cpp.Llama(model_path=str(gguf_path), vocab_only=True, verbose=False)
    rows = []
    for line in lines:
        text = line.encode()
        ids = model.tokenize(text, add_bos=True, special=True)
        plain = model.tokenize(text, add_bos=False, special=False)
        rows.append((ids, plain, None))
    return rows


def make(root, lines, write_ids):
    folder = root / "gguf"
    folder.mkdir(parents=True, exist_ok=True)
    tokenizers = root / "tokenizers"
    vocabs = {
        "gpt2": byte_pairs(lines),
        "llama": sentencepiece(tokenizers / "spm_bpe/tokenizer.model", "llama"),
        "t5": sentencepiece(tokenizers / "spm_unigram/tokenizer.model", "t5"),
        "bert": word_pieces(tokenizers / "word_piece/tokenizer.json"),
    }
    lines = chosen(lines)
    for name, vocab in vocabs.items():
        text = json.dumps(vocab, ensure_ascii=False, separators=(",", ":"))
        (folder / f"{name}.json").write_text(text + "\n")
    with tempfile.TemporaryDirectory() as scratch:
        path = pathlib.Path(scratch) / "vocab.gguf"
        for kind in KINDS:
            if kind in PUBLISHED:
                rows = encode_as_published(vocabs["gpt2"], kind, lines)
            else:
                write_gguf(path, vocabs["gpt2"], kind)
                rows = encode(path, lines)
            write_ids(folder / f"gpt2-{kind}.txt", rows)
        write_gguf(path, vocabs["llama"], "default")
        write_ids(folder / "llama.txt", encode(path, lines))
    write_ids(folder / "bert.txt", encode_with_transformers(tokenizers / "word_piece", lines))
    t5 = encode_with_transformers(tokenizers / "spm_unigram", lines, legacy=True)
    write_ids(folder / "t5.txt", t5)
