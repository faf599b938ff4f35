//! How GGUF names the splitting of text before byte-pair merging (`tokenizer.ggml.pre`): for each
//! name, the regular expressions of the models' own tokenizer.json, applied one after the other.

/// How the pieces reach the merges.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spelling {
    /// GPT-2's printable alphabet of bytes.
    Bytes,
    /// As they are, with spaces as U+2581 and byte fallback.
    Metaspace,
    /// As they are, words only.
    Words,
}

pub struct PreTokenizer {
    pub names: &'static [&'static str],
    pub splits: &'static [&'static str],
    pub spelling: Spelling,
    /// A piece that is a token needs no merges.
    pub ignore_merges: bool,
    /// Begins a text with BOS unless the file says otherwise.
    pub add_bos: bool,
}

const fn kind(names: &'static [&'static str], splits: &'static [&'static str]) -> PreTokenizer {
    PreTokenizer {
        names,
        splits,
        spelling: Spelling::Bytes,
        ignore_merges: false,
        add_bos: false,
    }
}

impl PreTokenizer {
    const fn whole_words(mut self) -> Self {
        self.ignore_merges = true;
        self
    }

    const fn with_bos(mut self) -> Self {
        self.add_bos = true;
        self
    }

    const fn spelled(mut self, spelling: Spelling) -> Self {
        self.spelling = spelling;
        self
    }
}

const GPT2: &str = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+";
const DIGIT: &str = r"\p{N}";
const THREE_DIGITS: &str = r"\p{N}{1,3}";
/// Three digits at a time, counted from the end of the number.
const THREE_DIGITS_FROM_END: &str = r"\p{N}{1,3}(?=(?:\p{N}{3})*(?!\p{N}))";
const NEWLINE: &str = r"[\r\n]";
const LINES: &str = r"[^\n]+|[\n]+";
const CHINESE_JAPANESE: &str = "[\u{4e00}-\u{9fa5}\u{3040}-\u{309f}\u{30a0}-\u{30ff}]+";
const CHINESE_KOREAN: &str = "[\u{4e00}-\u{9fa5}\u{0800}-\u{4e00}\u{ac00}-\u{d7ff}]+";
const EAST_ASIAN: &str = concat!(
    "[\u{4e00}-\u{9fff}\u{3400}-\u{4dbf}\u{8c48}-\u{faff}\u{3040}-\u{309f}\u{30a0}-\u{30ff}",
    "\u{ff65}-\u{ff9f}\u{2f00}-\u{2fdf}\u{0e40}-\u{0e7f}\u{0e80}-\u{0eff}\u{1780}-\u{17ff}",
    "\u{1000}-\u{109f}\u{aa60}-\u{aa7f}\u{a9e0}-\u{a9ff}\u{ac00}-\u{d7af}\u{1100}-\u{11ff}]+"
);
/// Everything but spaces and the sentence marks of Latin, Chinese, Indic and Arabic scripts.
const BLOOM: &str = " ?[^(\\s|.,!?\u{2026}\u{3002}\u{ff0c}\u{3001}\u{0964}\u{06d4}\u{060c})]+";

const LLAMA3: &str = concat!(
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}",
    r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
);
const JAIS2: &str = concat!(
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}",
    r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+",
    r"|\s{512}(?!\S)|\s{256}(?!\S)|\s{128}(?!\S)|\s{64}(?!\S)|\s{32}(?!\S)|\s{16}(?!\S)",
    r"|\s{8}(?!\S)|\s{4}(?!\S)|\s{1,2}(?!\S)|\s{1}"
);
const QWEN2: &str = concat!(
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}",
    r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
);
const QWEN35: &str = concat!(
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}",
    r"| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
);
const MINICPM5: &str = concat!(
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}+",
    r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
);
const UFAKZEKA: &str = concat!(
    r"[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}",
    r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
);
const SEED_CODER: &str = concat!(
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1}",
    r"| ?[^\s\p{L}\p{N}\r\n]+|\s*[\r\n]+|\s+(?!\S)|\s+"
);
const BAILING: &str = concat!(
    r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}+|\p{N}",
    r"| ?[^\s\p{L}\p{N}]++[\r\n]*|\s*[\r\n]|\s+(?!\S)|\s+"
);
const EXAONE_MOE: &str = concat!(
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?(?:\p{L}\p{M}*(?: \p{L}\p{M}*)*)+|\p{N}",
    r"| ?[^\s\p{L}\p{N}]+[\r\n/]?|\s*[\r\n]|\s+(?!\S)|\s+"
);
/// Words in camel case fall apart; an apostrophe's ending stays with its word.
const GPT4O: &str = concat!(
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+",
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
    r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*",
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
    r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
);
const YOUTU: &str = concat!(
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+",
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
    r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*",
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
    r"|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
);
const YOUTU_EAST_ASIAN: &str = concat!(
    "[\u{ac00}-\u{d7a3}\u{3131}-\u{318e}]+",
    "|[\u{ff01}\u{2026}\u{201c}\u{201d}\u{2018}\u{2019}\u{2014}\u{ff1a}\u{ff1b}\u{ff0c}",
    "\u{3001}-\u{303f}\u{fe30}-\u{fe4f}]+",
    "|[\u{3105}-\u{312f}]+|[\u{4e00}-\u{9fa5}\u{3040}-\u{309f}\u{30a0}-\u{30ff}]+"
);
const TEKKEN: &str = concat!(
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+",
    r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*",
    r"|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
);
/// GPT4O's, with runs of Han kept apart.
const KIMI_K2: &str = concat!(
    r"[\p{Han}]+",
    r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]*",
    r"[\p{Ll}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
    r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]+",
    r"[\p{Ll}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
    r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
);
const DEEPSEEK3: &str = concat!(
    r##"[!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+"##,
    r"|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+",
    r"| ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
);
const SPARK: &str = concat!(
    r##"[!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+"##,
    r"|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+",
    r"| ?[\p{P}\p{S}]+|[\r\n]|\s+(?!\S)|\s+"
);
/// The letters that have case, as of DeepSeek LLM's Unicode version.
const DEEPSEEK_LETTERS: &str = concat!(
    "\\s?[",
    "A-Za-zµÀ-ÖØ-öø-ƺƼ-ƿǄ-ʓʕ-ʯͰ-ͳͶͷͻ-ͽͿΆΈ-ΊΌΎ-ΡΣ-ϵϷ-ҁҊ-ԯԱ-ՖႠ-ჅᎠ-Ᏽᏸ-ᏽᲐ-ᲺᲽ-Ჿᴀ-ᴫᵫ-ᵷᵹ-ᶚḀ-ἕἘ-Ἕ",
    "ἠ-ὅὈ-Ὅὐ-ὗὙὛὝὟ-ώᾀ-ᾴᾶ-ᾼιῂ-ῄῆ-ῌῐ-ΐῖ-Ίῠ-Ῥῲ-ῴῶ-ῼℂℇℊ-ℓℕℙ-ℝℤΩℨK-ℭℯ-ℴℹℼ-ℿⅅ-ⅉⅎↃↄⰀ-ⱻⱾ-ⳤⳫ-ⳮⳲⳳ",
    "Ꙁ-ꙭꚀ-ꚛꜢ-ꝯꝱ-ꞇꞋ-ꞎꭰ-ꮿﬀ-ﬆﬓ-ﬗＡ-Ｚａ-ｚ𐐀-𐑏𐒰-𐓓𐓘-𐓻𐲀-𐲲𐳀-𐳲𑢠-𑣟𞤀-𞥃",
    "]+"
);
const DEEPSEEK_MARKS: &str =
    "\\s?[!-/:-~\u{ff01}-\u{ff0f}\u{ff1a}-\u{ff5e}\u{2018}-\u{201f}\u{3000}-\u{3002}]+";

pub const KINDS: &[PreTokenizer] = &[
    kind(
        &["default"],
        &[r"[\p{P}\$\+<=>\^~\|]+", GPT2, r"\p{N}+", "[0-9][0-9][0-9]"],
    ),
    kind(
        &[
            "gpt-2",
            "phi-2",
            "jina-es",
            "jina-de",
            "gigachat",
            "jina-v2-es",
            "jina-v2-de",
            "a.x-4.0",
            "mellum",
            "modern-bert",
            "jina-v1-en",
            "jina-v2-code",
            "roberta-bpe",
            "mpt",
            "olmo",
            "jais",
            "trillion",
            "granite-docling",
            "exaone4",
        ],
        &[GPT2],
    ),
    kind(
        &[
            "starcoder",
            "refact",
            "command-r",
            "smollm",
            "codeshell",
            "exaone",
            "minerva-7b",
            "mellum2",
        ],
        &[DIGIT, GPT2],
    ),
    kind(
        &[
            "llama3",
            "llama-v3",
            "llama-bpe",
            "falcon3",
            "falcon-h1",
            "pixtral",
            "midm-2.0",
            "lfm2",
            "jina-v5-nano",
        ],
        &[LLAMA3],
    )
    .whole_words()
    .with_bos(),
    kind(&["dbrx", "smaug-bpe", "chatglm-bpe"], &[LLAMA3]),
    kind(&["glm4", "glm5"], &[LLAMA3]).whole_words(),
    kind(&["jais-2"], &[JAIS2]),
    kind(&["minicpm5"], &[THREE_DIGITS, MINICPM5]).whole_words(),
    kind(
        &[
            "qwen2",
            "deepseek-r1-qwen",
            "kormo",
            "f2llmv2",
            "megrez",
            "stablelm2",
            "hunyuan",
            "solar-open",
            "grok-2",
        ],
        &[QWEN2],
    ),
    kind(&["qwen35"], &[QWEN35]),
    kind(&["laguna"], &[LINES, QWEN2]),
    kind(&["ufakzeka"], &[UFAKZEKA]),
    kind(&["seed-coder"], &[SEED_CODER]),
    kind(&["bailingmoe", "bailingmoe2", "llada-moe"], &[BAILING]),
    kind(&["exaone-moe"], &[EXAONE_MOE]),
    kind(
        &["gpt-4o", "llama4", "kanana2", "talkie", "minimax-m2"],
        &[GPT4O],
    ),
    kind(&["granite-embed-multi-97m"], &[GPT4O]).whole_words(),
    kind(
        &["tiny_aya", "cohere2moe"],
        &[r"\d{1,3}(?=(?:\d{3})*\b)", GPT4O],
    ),
    kind(&["youtu"], &[YOUTU_EAST_ASIAN, YOUTU]).whole_words(),
    kind(&["tekken"], &[TEKKEN]).whole_words().with_bos(),
    kind(&["kimi-k2"], &[KIMI_K2]),
    kind(&["superbpe"], &[r"\p{N}+", r"(?=(\d{3})+(?!\d))"]),
    kind(
        &["deepseek-llm"],
        &[
            NEWLINE,
            DEEPSEEK_LETTERS,
            DEEPSEEK_MARKS,
            r"\s+$",
            CHINESE_KOREAN,
            r"\p{N}+",
        ],
    ),
    kind(
        &["deepseek-coder"],
        &[NEWLINE, r"\s?\p{L}+", r"\s?\p{P}+", CHINESE_KOREAN, DIGIT],
    ),
    kind(
        &["deepseek-v3", "hunyuan-dense", "joyai-llm", "hy_v4"],
        &[THREE_DIGITS, CHINESE_JAPANESE, DEEPSEEK3],
    ),
    kind(
        &["spark2_5"],
        &[THREE_DIGITS, CHINESE_JAPANESE, SPARK, DIGIT],
    ),
    kind(&["afmoe"], &[THREE_DIGITS_FROM_END, EAST_ASIAN, DEEPSEEK3]),
    kind(
        &["falcon"],
        &[r"[\p{P}\$\+<=>\^~\|`]+", GPT2, "[0-9][0-9][0-9]"],
    ),
    kind(&["poro-chat", "bloom", "gpt3-finnish"], &[BLOOM]),
    kind(&["viking"], &[BLOOM, DIGIT]),
    kind(
        &["chameleon"],
        &[
            "<sentinel:[0-9]+>",
            "(IMGIMG)((A|B|C|D|E|F|G|H|I){1,4})Z",
            r"([\t\n]|    |  )",
            DIGIT,
            r"[\p{P}!-/:-@\[-`{-~]",
            GPT2,
        ],
    )
    .with_bos(),
    kind(
        &["gemma4", "granite-embed-multi-311m", "sarvam-moe"],
        &[LINES],
    )
    .spelled(Spelling::Metaspace),
    kind(&["whitespace"], &[r"\s+"]).spelled(Spelling::Words),
];

/// The kind of that name, or the name that is nearest to it.
pub fn find(name: &str) -> Result<&'static PreTokenizer, &'static str> {
    let known = KINDS.iter().find(|kind| kind.names.contains(&name));
    known.ok_or_else(|| {
        let names = KINDS.iter().flat_map(|kind| kind.names).copied();
        names
            .min_by_key(|known| distance(known, name))
            .unwrap_or_default()
    })
}

/// Levenshtein's edit distance.
fn distance(a: &str, b: &str) -> usize {
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.bytes().enumerate() {
        let mut diagonal = i;
        row[0] = i + 1;
        for (j, y) in b.bytes().enumerate() {
            let next = (diagonal + usize::from(x != y))
                .min(row[j] + 1)
                .min(row[j + 1] + 1);
            diagonal = row[j + 1];
            row[j + 1] = next;
        }
    }
    row[b.len()]
}
