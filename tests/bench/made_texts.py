"""Made-up texts of many scripts and forms, for measuring what must hold for any text. Nothing here is anybody's text:
words are listed below, letters come from Unicode's blocks, and code, paths and hashes are thrown together by dice."""

from __future__ import annotations

import base64
import random
import unicodedata
from collections.abc import Callable, Sequence
from functools import lru_cache

LANGUAGES = {
    "English": "the store keeps tokens before each session never rotate a cursor unless someone merges release notes",
    "German": "die Sitzungsschlüssel werden überprüft bevor Änderungen größtenteils zusammengeführt Straßenverzeichnis",
    "French": "où les clés d'accès déjà renouvelées n'être qu'à côté du dépôt français naïveté œuvre",
    "Spanish": "según la contraseña caducó mañana el almacén también devolverá años ¿dónde? pingüino configuración",
    "Portuguese": "não há configuração padrão até amanhã então usuários ções implantação",
    "Polish": "źródło zażółć gęślą jaźń pamięć podręczna wyłączyć należy wdrożenie błąd",
    "Czech": "příliš žluťoučký kůň úpěl ďábelské ódy schránka načítání větev",
    "Turkish": "önbelleği güncelleştirmeden çalıştırılamıyor ışık şifre değiştirilebilir oturumlarımızdan",
    "Finnish": "välimuistiinkaan käyttöoikeuksistamme päivittämättömyydestään yötyö järjestelmällistämättömyys",
    "Hungarian": "megszentségteleníthetetlenségeskedéseitekért gyorsítótár felhasználónként őrült űrhajó",
    "Vietnamese": "bộ nhớ đệm của phiên làm việc không được xoá trước khi hợp nhất nhánh chính",
    "Icelandic": "þjónustan geymir lykilorð ekki í skyndiminni áður en útgáfan er tilbúin ævi",
    "Swahili": "kumbukumbu ya mradi huhifadhiwa kabla ya kuunganisha matawi yasiyofanikiwa",
    "Greek": "η μνήμη του έργου αποθηκεύεται πριν από κάθε συνεδρία χωρίς κλειδιά ρυθμίσεις",
    "Russian": "хранилище проверяет ключи перед каждым слиянием ветвей обновление невозможно ёжик",
    "Ukrainian": "сховище перевіряє ключі під час злиття гілок є їжак ґудзик п'ять",
    "Kazakh": "қойма әр сеанс алдында кілттерді тексереді өңдеу ұмытылған",
    "Hebrew": "המאגר בודק מפתחות לפני כל מיזוג של ענפים שָׁלוֹם אין",
    "Arabic": "يتحقق المستودع من المفاتيح قبل دمج الفروع الجلسة السِّجِلّ؟ لا",
    "Persian": "مخزن پیش از هر نشست کلیدها را بررسی می‌کند گزارش‌های چاپ",
    "Urdu": "ذخیرہ ہر نشست سے پہلے چابیاں جانچتا ہے ڈیٹا بھیجیں ٹوکن",
    "Hindi": "भंडार प्रत्येक सत्र से पहले कुंजियाँ जाँचता है क्षेत्र ज्ञान ऑब्जेक्ट",
    "Bengali": "ভান্ডার প্রতিটি অধিবেশনের আগে চাবি পরীক্ষা করে ক্ষেত্র জ্ঞান",
    "Tamil": "களஞ்சியம் ஒவ்வொரு அமர்வுக்கும் முன் விசைகளைச் சரிபார்க்கிறது",
    "Telugu": "నిల్వ ప్రతి సెషన్‌కు ముందు కీలను తనిఖీ చేస్తుంది",
    "Sinhala": "ගබඩාව සෑම සැසියකටම පෙර යතුරු පරීක්ෂා කරයි",
    "Thai": "ที่เก็บตรวจสอบกุญแจก่อนทุกครั้งที่รวมสาขา ห้ามลบหน่วยความจำน้ำ",
    "Lao": "ບ່ອນເກັບກວດສອບກະແຈກ່ອນທຸກຄັ້ງ",
    "Khmer": "ឃ្លាំងពិនិត្យសោមុនពេលបញ្ចូលសាខា",
    "Burmese": "သိုလှောင်ရုံသည် သော့များကို စစ်ဆေးသည်",
    "Georgian": "საცავი ამოწმებს გასაღებებს ყოველი შერწყმის წინ",
    "Armenian": "պահեստը ստուգում է բանալիները յուրաքանչյուր միավորումից առաջ",
    "Amharic": "ማከማቻው ከእያንዳንዱ ክፍለ ጊዜ በፊት ቁልፎችን ይፈትሻል",
    "Tibetan": "མཛོད་ཁང་གིས་ལྡེ་མིག་བརྟག་དཔྱད་བྱེད།",
    "Mongolian": "хадгалах сан салбар нэгтгэхээс өмнө түлхүүрийг шалгана ᠮᠣᠩᠭᠣᠯ",
    "Chinese": "仓库在每次合并分支之前检查密钥，会话令牌五分钟后过期。不要删除缓存里的记忆！ 籠龘",
    "Traditional": "倉庫在每次合併分支之前檢查金鑰；工作階段權杖五分鐘後逾期。請勿刪除快取！",
    "Japanese": "リポジトリはブランチを統合する前に鍵を確認する。セッショントークンは五分で失効します。ｶﾀｶﾅ",
    "Korean": "저장소는 브랜치를 병합하기 전에 키를 확인한다 세션 토큰은 오분 뒤에 만료됩니다 뷁",
}
BLOCKS = (
    (0x21, 0x7F), (0xA1, 0x250), (0x250, 0x370), (0x370, 0x400), (0x400, 0x530), (0x531, 0x590), (0x590, 0x600),
    (0x600, 0x700), (0x700, 0x900), (0x900, 0xE00), (0xE00, 0x1000), (0x1000, 0x1200), (0x1200, 0x1400),
    (0x1400, 0x1800), (0x1800, 0x2000), (0x2010, 0x2C00), (0x2C00, 0x3000), (0x3000, 0x3400), (0x3400, 0x4DC0),
    (0x4E00, 0xA000), (0xA000, 0xAC00), (0xAC00, 0xD7A4), (0xF900, 0xFB00), (0xFB00, 0xFFF0), (0x10000, 0x11000),
    (0x12000, 0x12400), (0x1D400, 0x1D800), (0x1F000, 0x1FB00), (0x20000, 0x20400),
)  # fmt: skip
_PARTS = """get user token rotate session parse build cache http sqlite json index vector anchor commit branch merge
    query id async handler config path file read write error retry limit cursor digest schema render template XML URL"""
PARTS = _PARTS.split()
_EMOJI = "😀 🎉 🚀 ✅ ⚠️ ❌ 🔥 🧑‍💻 👩🏽‍🔬 👨‍👩‍👧‍👦 🏳️‍🌈 🇩🇪 🇯🇵 5️⃣ 🫠 ♻️ ➡️ 🦓 🧪 ☑"
EMOJI = _EMOJI.split()
MARKS = "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~…—–“”„«»‹›•·→←⇒≤≥≠∑√∞│├└─█░°§¶†‡€£¥©®™"

Maker = Callable[[random.Random], str]


def text(rng: random.Random, size: int) -> str:
    """Return at least `size` characters, or the few more that the last piece has: of one form or of several."""
    makers = [rng.choice(MAKERS)] if rng.random() < 0.5 else rng.choices(MAKERS, k=rng.randint(2, 5))
    pieces, length = [], 0
    while length < size:
        piece = rng.choice(makers)(rng)
        pieces.append(piece)
        length += len(piece) + 1
    return rng.choice((" ", " ", " ", "", "\n", ", ", "\n- ", "\t"))[:length].join(pieces)


def prose(rng: random.Random, language: str = "") -> str:
    """Return a few words of a language, some in other letter case."""
    source = LANGUAGES[language or rng.choice(tuple(LANGUAGES))]
    spaced = source.split()
    if len(spaced) < 5:  # a script without spaces: pieces of it
        start = rng.randrange(len(source))
        return source[start : start + rng.randint(1, 30)]
    words = rng.choices(spaced, k=rng.randint(1, 12))
    change = rng.choice((str, str, str, str.upper, str.title, str.capitalize))
    return change(" ".join(words)) + rng.choice(("", ".", ",", "?", ":", "…"))


@lru_cache(maxsize=64)
def _letters(first: int, last: int) -> Sequence[str]:
    return [chr(code) for code in range(first, last) if unicodedata.category(chr(code)) not in ("Cn", "Cs", "Cc", "Co")]


def letters(rng: random.Random) -> str:
    """Return random letters of one block of Unicode, in words."""
    block = _letters(*rng.choice(BLOCKS))
    return " ".join("".join(rng.choices(block, k=rng.randint(1, 12))) for _ in range(rng.randint(1, 6)))


def stacked(rng: random.Random) -> str:
    """Return letters under many accents."""
    accents = _letters(0x300, 0x370)
    return "".join(rng.choice("aeo\N{HIRAGANA LETTER KA}x") + "".join(rng.choices(accents, k=4)) for _ in range(5))


def identifier(rng: random.Random) -> str:
    words = rng.choices(PARTS, k=rng.randint(1, 5))
    joined = rng.choice(
        (
            "_".join(words),
            "_".join(words).upper(),
            "".join(word.capitalize() for word in words),
            ".".join(words) + "()",
            "--" + "-".join(words),
            "::".join(words),
            "$" + "".join(words),
        )
    )
    return rng.choice((joined, joined, f"`{joined}`", f"**{joined}**"))


def path(rng: random.Random) -> str:
    folders = rng.choices(PARTS, k=rng.randint(1, 6))
    name = f"{rng.choice(PARTS)}_{rng.randint(0, 999)}.{rng.choice(('py', 'tsx', 'rs', 'md', 'toml', 'c', 'lock'))}"
    return rng.choice(("", "./", "/", "../../", "C:\\", "~/")) + "/".join([*folders, name]) + rng.choice(("", ":12-98"))


def link(rng: random.Random) -> str:
    keys = "&".join(f"{word}={number(rng)}" for word in rng.choices(PARTS, k=3))
    return f"https://{rng.choice(PARTS)}.example.org:{rng.randint(1, 65535)}/{identifier(rng)}?{keys}#%E2%9C%93"


def random_bytes(rng: random.Random) -> str:
    data = rng.randbytes(rng.randint(4, 48))
    form = rng.choice(("hex", "HEX", "base64", "base32", "uuid", "escaped", "binary"))
    if form == "base64":
        return base64.b64encode(data).decode()
    if form == "base32":
        return base64.b32encode(data).decode()
    if form == "uuid":
        return "-".join(data.hex()[at : at + 4] for at in range(0, 20, 4))
    if form == "escaped":
        return "".join(f"\\x{byte:02x}" for byte in data)
    if form == "binary":
        return "".join(f"{byte:08b}" for byte in data[:6])
    return data.hex().upper() if form == "HEX" else data.hex()


def number(rng: random.Random) -> str:
    value = rng.randrange(10 ** rng.randint(1, 18))
    date = f"{rng.randint(1990, 2040)}-{rng.randint(1, 12):02}-{rng.randint(1, 28):02}T{value % 24:02}:07:59.123Z"
    version = f"v{value % 20}.{value % 7}.{value % 99}-rc.1"
    return rng.choice((str(value), f"{value:,}", version, date, f"{value / 997:e}", f"{value:#x}"))


def code(rng: random.Random) -> str:
    one, two, three = identifier(rng), identifier(rng), number(rng)
    return rng.choice(
        (
            f"if ({one} != {two}) {{ return {three}; }}",
            f"def {one}(self, *args: list[{two}]) -> None: ...",
            f"SELECT {one} FROM {two} WHERE x IN ({three}, ?) ORDER BY 1 DESC;",
            f'{{"{one}": [{three}, null, "{two}"], "n": {{}}}}',
            f"<{one} class='{two}' data-x=\"{three}\"/>",
            f"$ git {one} --{two}={three} | xargs -0 -n1 sh -c 'echo \"$@\"'",
            f"fn {one}<'a, T: {two}>(&mut self) -> Result<Vec<&'a T>, Box<dyn {two}>>;",
            f"#define {one}(x) ((x)<<{three})|~{two}",
            f"\\frac{{{one}}}{{\\sqrt{{{three}}}}}^{{{two}}}",
            f"(?<={one})[^\\s\\d]{{2,}}?(?:{two}|$)",
        )
    )


def emoji(rng: random.Random) -> str:
    return rng.choice(("", " ")).join(rng.choices(EMOJI, k=rng.randint(1, 8)))


def marks(rng: random.Random) -> str:
    """Return punctuation, in runs of one or all mixed."""
    if rng.random() < 0.5:
        return rng.choice(MARKS) * rng.randint(1, 60)
    return "".join(rng.choices(MARKS, k=rng.randint(1, 30)))


def gibberish(rng: random.Random) -> str:
    """Return Latin letters that make no words, with capitals anywhere."""
    small = "abcdefghijklmnopqrstuvwxyz"
    alphabet = rng.choice(("bcdfghjklmnpqrstvwxz", small, "aAbBcCxXzZqQjJkK", small.upper()))
    return " ".join("".join(rng.choices(alphabet, k=rng.randint(1, 24))) for _ in range(rng.randint(1, 5)))


def again(rng: random.Random) -> str:
    """Return one character or word over and over."""
    letter = rng.choice(_letters(*rng.choice(BLOCKS)))
    return rng.choice([letter, *rng.choices(PARTS, k=2), "ha", "\u3042", " "]) * rng.randint(2, 60)


def hidden(rng: random.Random) -> str:
    """Return text with controls, zero-width and reordering characters in it."""
    unseen = "\0\x07\x1b\x7f\x85\xad\u200b\u200d\u202e\u2066\ufeff\U000e0041"
    return "".join(letter + rng.choice(unseen) for letter in "mem hook")


MAKERS: tuple[Maker, ...] = (
    prose, prose, prose, prose, letters, letters, stacked, identifier, path, link, random_bytes, number, code, emoji,
    marks, gibberish, again, hidden,
)  # fmt: skip
