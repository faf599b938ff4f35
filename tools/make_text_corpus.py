#!/usr/bin/env python3
"""Makes the text corpus of the tokenizer tests: the same lines on every run.

Usage: tools/make_text_corpus.py [OUT]      (default: tests/data/text/corpus.jsonl)

One JSON string a line: sentences of many languages, words of many scripts, emoji, code, numbers,
control and odd whitespace characters, spellings of special tokens, and mixtures of all of these.
"""
import json
import pathlib
import random
import sys
import unicodedata

PHRASES = """
The quick brown fox jumps over the lazy dog, twice; then it's done.
I'd say we've won, but they'll argue that he's wrong and she'd agree. DON'T shout: IT'S late!
Größe, Übermut und Straße: schöne Wörter, nicht wahr?
Où est passé l'été ? À côté de l'œuvre, peut-être.
¿Dónde está la biblioteca? ¡Qué sé yo, señor!
Não há coração sem canção; amanhã começará a ação.
Żółć, gęś, źdźbło i łódź płynęły powoli.
Příliš žluťoučký kůň úpěl ďábelské ódy.
Árvíztűrő tükörfúrógép és őszinte öröm.
İstanbul'da ılık bir akşamüstü çay içtik.
Tiếng Việt có nhiều dấu: ấ ầ ẩ ẫ ậ ế ề ể ễ ệ.
Съешь же ещё этих мягких булок, да выпей чаю.
Їжак під'їхав до ґанку й з'їв яблуко.
Ξεσκεπάζω την ψυχοφθόρα βδελυγμία.
Բարեւ աշխարհ, ինչպե՞ս ես։
გამარჯობა მსოფლიო, როგორ ხარ?
שלום עולם, מה שלומך היום?
مرحبا بالعالم، كيف حالك اليوم؟ ١٢٣٤
سلام دنیا، حال شما چطور است؟ می‌خواهم
नमस्ते दुनिया, आप कैसे हैं? क्षत्रिय १२३
বাংলা ভাষায় লেখা একটি বাক্য।
வணக்கம் உலகம், எப்படி இருக்கிறீர்கள்?
తెలుగు లిపి చాలా అందంగా ఉంటుంది.
ಕನ್ನಡದಲ್ಲಿ ಒಂದು ವಾಕ್ಯ.
മലയാളത്തിൽ എഴുതിയ വാക്യം.
สวัสดีชาวโลก วันนี้เป็นอย่างไรบ้าง
ສະບາຍດີຊາວໂລກ
ជំរាបសួរពិភពលោក
မင်္ဂလာပါ ကမ္ဘာလောက
ང་བོད་ལ་དགའ།
你好，世界！今天天气怎么样？我们去公园吧。
繁體中文與簡體中文不同，但可互通。「引號」、『雙引號』
こんにちは世界。カタカナとひらがな、そして漢字。ｶﾀｶﾅ
안녕하세요 세계! 오늘 날씨가 어때요? 각각
ሰላም ለዓለም፣ እንዴት ነህ?
ᎣᏏᏲ ᎡᎶᎯ
ᚠᚢᚦᚨᚱᚲ ᛒᛖᚱᚲᚨᚾᚨᚾ
𐌲𐌿𐍄𐌰𐍂𐌰𐌶𐌳𐌰 𐐀𐐁𐐂 𝒜𝓃𝒹 𝟘𝟙𝟚
ﬁne ﬂour, ①②③ Ⅷ ㍿ ½ ¼ x² H₂O ™ © ® ℃ №
camelCaseWordsAndHTTPServer2Go snake_case_words kebab-case-words SCREAMING_CASE
user@example.com visited https://example.com/a/b?x=1&y=%20z#frag at 12:34:56.789
$1,234,567.89 + €99.99 - £0.01 = ¥1000000000 (about 3.14159265358979e+10)
""".strip().split("\n")

CODE = [
    "def f(x: int) -> int:\n    \"\"\"Doc.\"\"\"\n    return x ** 2  # square\n",
    "for (int i = 0; i < n; ++i) { a[i] += b[i] * 2.0f; }\n",
    "#include <vector>\n\nint main() {\n\tstd::vector<int> v{1, 2, 3};\n\treturn v.size();\n}\n",
    "SELECT name, COUNT(*) FROM users WHERE age >= 21 GROUP BY name ORDER BY 2 DESC;",
    "{\"key\": [1, 2.5, null, true], \"nested\": {\"a\\n\": \"\\u00e9\"}}",
    "<div class=\"x\" id='y'>&amp; &lt;b&gt;</div><!-- note -->",
    "fn main() { let x: Vec<u8> = vec![0; 16]; println!(\"{:?}\", &x[..4]); }",
    "$ git commit -m 'wip' && make -j8 2>&1 | tee log.txt",
    "x = {k: v for k, v in d.items() if not k.startswith('_')}",
    "\\begin{equation} \\frac{a}{b} = \\sqrt{c^2} \\end{equation}",
    "if(a&&b||!c){return a?b:c;}//ok",
    "|a|b|\n|---|---|\n|1|2|\n\n* item\n  * sub\n\n```py\nprint(1)\n```\n",
    "0xDEADBEEF 0b1010 1_000_000 1e-7 -273.15 +42 007 192.168.0.1 2026-11-30T23:59:59Z",
]

EMOJI = [
    "👩‍👩‍👧‍👦", "👨🏽‍🚀", "🏳️‍🌈", "🇩🇪🇯🇵🇧🇷", "👍🏿", "❤️", "❤", "☺️", "1️⃣", "🧑‍🤝‍🧑", "🫠", "🥹", "🏴󠁧󠁢󠁳󠁣󠁴󠁿", "👁️‍🗨️",
    "🤦🏼‍♂️", "😀😃😄", "✅", "⚠️", "▶️", "🀄", "🎉🎊",
]

SPACES = [
    " ", "  ", "   ", "    ", "\t", "\n", "\r\n", "\n\n", "\n\n\n", "\r", "\u00a0", "\u3000", "\u2003",
    "\u2009", "\u200a", "\u202f", "\u205f", "\u1680", "\u2028", "\u2029", "\u0085", "\u000b", "\u000c",
    " \n", "\n ", "\t\t", " \t ", "▁", "▁▁", " ▁",
]

ODD = [
    "\u200b", "\u200c", "\u200d", "\u2060", "\ufeff", "\u00ad", "\u034f", "\u061c", "\u200e", "\u200f",
    "\u202a", "\u202b", "\u202c", "\u202e", "\u2066", "\u2069", "\ufe0e", "\ufe0f", "\ufffd", "\ufffc",
    "\ue000", "\uf8ff", "\U000f0000", "\U0010fffd", "\ufdd0", "\uffff", "\U0001ffff", "\u0301", "\u0300\u0301",
    "\u20dd", "\u1ab0", "\u0e33", "\u0f00", "\uff9e", "\u1160", "\u115f", "\u180e", "\u0138", "ſ", "'ſ", "İ", "ß",
]

SPECIALS = [
    "<s>", "</s>", "<unk>", "<pad>", "[CLS]", "[SEP]", "[MASK]", "[UNK]", "[PAD]", "<|im_start|>",
    "<|im_end|>", "<|endoftext|>", "<tool>", "</tool>", "<|user_data|>", "AddedWord", "added word",
    "<mask>", "<extra_id_0>", "<0x0A>", "<0xE4>", "<bos>", "<eos>",
]

# Letters of many scripts, as ranges of code points.
SCRIPTS = {
    "latin": (0x61, 0x7A), "latin1": (0xC0, 0xFF), "latin_a": (0x100, 0x17F), "latin_b": (0x180, 0x24F),
    "ipa": (0x250, 0x2AF), "greek": (0x370, 0x3FF), "cyrillic": (0x400, 0x4FF), "armenian": (0x531, 0x587),
    "hebrew": (0x5D0, 0x5EA), "arabic": (0x620, 0x64A), "syriac": (0x710, 0x72F), "thaana": (0x780, 0x7A5),
    "nko": (0x7C0, 0x7EA), "devanagari": (0x900, 0x97F), "bengali": (0x985, 0x9B9), "gurmukhi": (0xA05, 0xA39),
    "gujarati": (0xA85, 0xAB9), "oriya": (0xB05, 0xB39), "tamil": (0xB85, 0xBB9), "telugu": (0xC05, 0xC39),
    "kannada": (0xC85, 0xCB9), "malayalam": (0xD05, 0xD39), "sinhala": (0xD85, 0xDC6), "thai": (0xE01, 0xE3A),
    "lao": (0xE81, 0xEB9), "tibetan": (0xF40, 0xF6C), "myanmar": (0x1000, 0x102A), "georgian": (0x10D0, 0x10FF),
    "hangul_jamo": (0x1100, 0x1112), "ethiopic": (0x1200, 0x1248), "cherokee": (0x13A0, 0x13F4),
    "canadian": (0x1401, 0x14FF), "ogham": (0x1681, 0x169A), "runic": (0x16A0, 0x16EA), "khmer": (0x1780, 0x17B3),
    "mongolian": (0x1820, 0x1878), "latin_ext": (0x1E00, 0x1EFF), "greek_ext": (0x1F00, 0x1FFC),
    "punctuation": (0x2010, 0x2027), "superscripts": (0x2070, 0x209C), "currency": (0x20A0, 0x20BF),
    "letterlike": (0x2100, 0x214F), "number_forms": (0x2150, 0x2189), "arrows": (0x2190, 0x21FF),
    "maths": (0x2200, 0x22FF), "boxes": (0x2500, 0x257F), "dingbats": (0x2701, 0x27BF), "braille": (0x2800, 0x28FF),
    "glagolitic": (0x2C00, 0x2C5F), "coptic": (0x2C80, 0x2CE4), "hiragana": (0x3041, 0x3096),
    "katakana": (0x30A1, 0x30FA), "bopomofo": (0x3105, 0x312F), "cjk": (0x4E00, 0x9FFF), "yi": (0xA000, 0xA48C),
    "vai": (0xA500, 0xA60C), "hangul": (0xAC00, 0xD7A3), "cjk_compat": (0xF900, 0xFA6D), "fullwidth": (0xFF01, 0xFF5E),
    "halfwidth": (0xFF66, 0xFF9D), "gothic": (0x10330, 0x1034A), "deseret": (0x10400, 0x1044F),
    "cuneiform": (0x12000, 0x12399), "hieroglyphs": (0x13000, 0x1342E), "maths_letters": (0x1D400, 0x1D7FF),
    "mahjong": (0x1F000, 0x1F02B), "emoji": (0x1F300, 0x1F5FF), "faces": (0x1F600, 0x1F64F), "cjk_b": (0x20000, 0x2A6DF),
    "ascii_marks": (0x21, 0x2F), "digits": (0x30, 0x39), "arabic_digits": (0x660, 0x669), "c0": (0x01, 0x1F),
    "c1": (0x7F, 0x9F),
}


def script_word(rng, name):
    first, last = SCRIPTS[name]
    return "".join(chr(rng.randint(first, last)) for _ in range(rng.randint(1, 8)))


def fragment(rng):
    kind = rng.randrange(10)
    if kind < 3:
        return rng.choice(rng.choice(PHRASES).split(" "))
    if kind == 3:
        return script_word(rng, rng.choice(list(SCRIPTS)))
    if kind == 4:
        return rng.choice(EMOJI)
    if kind == 5:
        return str(rng.randrange(10 ** rng.randint(1, 12)))
    if kind == 6:
        return rng.choice(ODD)
    if kind == 7:
        return rng.choice(SPECIALS)
    if kind == 8:
        return rng.choice(["'s", "'LL", "'re", "n't", "...", "--", "!?", "(", ")", '"', "«", "»", "'"])
    return rng.choice(rng.choice(CODE).split(" "))


def lines():
    rng = random.Random(20261130)
    yield from ["", " ", "\n", "a", " a", "a ", "  a  b  ", "\n\na\n\n"]
    yield from PHRASES
    yield from CODE
    yield from EMOJI
    for phrase in PHRASES:
        yield unicodedata.normalize("NFD", phrase)
        yield phrase.upper()
        yield "  " + phrase.replace(" ", "  ") + "  "
    for token in SPECIALS:
        for around in ("{}", " {} ", "a{}b", "{0}{0}", "x {} y", "{0}\n{0}", "{0} hello{0} world"):
            yield around.format(token)
    for space in SPACES:
        for shape in ("a{}b", "{}x", "x{}", "Hello{0}world{0}{0}again"):
            yield shape.format(space)
    for odd in ODD:
        yield odd
        yield f"ab{odd}cd {odd} {odd}{odd}"
    for name in SCRIPTS:
        for _ in range(6):
            yield " ".join(script_word(rng, name) for _ in range(rng.randint(1, 8)))
    for _ in range(1100):
        glue = [rng.choice(["", " ", " ", " ", rng.choice(SPACES)]) for _ in range(rng.randint(1, 14))]
        yield "".join(fragment(rng) + space for space in glue)


def main():
    default = pathlib.Path(__file__).resolve().parent.parent / "tests/data/text/corpus.jsonl"
    out = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else default
    out.parent.mkdir(parents=True, exist_ok=True)
    with out.open("w", encoding="utf-8") as file:
        count = 0
        for line in lines():
            file.write(json.dumps(line, ensure_ascii=True) + "\n")
            count += 1
    print(f"{count} lines, {out.stat().st_size} bytes: {out}")


if __name__ == "__main__":
    main()
