/** Prose in the scripts that vocabularies treat differently, with code and JSON. */
export const REAL_TEXTS = {
  english:
    "The keeper climbs the stairs every evening at dusk. He'd rather not: it's 212 steps, and his knees aren't what they were in '98. \"You'll manage,\" she said—and he did, somehow.\n\nTwo boats came in before the storm; the third didn't.",
  russian:
    "Смотритель поднимается по лестнице каждый вечер, в сумерках. Ступеней двести двенадцать, и колени уже не те.\n— Справишься, — сказала она. И он справился, сам не зная как.",
  chinese:
    "守塔人每天黄昏都要爬上楼梯。一共二百一十二级台阶，他的膝盖早已不如从前。“你能行的，”她说。于是他真的做到了。",
  japanese:
    "灯台守は毎晩、夕暮れに階段を上る。二百十二段もあるのに、膝はもう昔のようではない。「大丈夫よ」と彼女は言った。",
  korean: "등대지기는 매일 저녁 해 질 무렵에 계단을 오른다. 계단은 212개나 되고 무릎은 예전 같지 않다.",
  arabic: "يصعد الحارس الدرج كل مساء عند الغسق. مئتان واثنتا عشرة درجة، ورُكبتاه لم تعودا كما كانتا. «ستنجح»، قالت له.",
  hindi: "रखवाला हर शाम धुंधलके में सीढ़ियाँ चढ़ता है। दो सौ बारह सीढ़ियाँ हैं, और उसके घुटने अब पहले जैसे नहीं रहे।",
  greek: "Ο φαροφύλακας ανεβαίνει τη σκάλα κάθε βράδυ, την ώρα του σούρουπου· ΔΙΑΚΟΣΙΑ ΔΩΔΕΚΑ σκαλοπάτια.",
  hebrew: "השומר עולה במדרגות בכל ערב עם רדת החשכה. מאתיים ושתים עשרה מדרגות, וברכיו כבר אינן כשהיו.",
  thai: "ผู้ดูแลประภาคารขึ้นบันไดทุกเย็นยามพลบค่ำ มีบันไดสองร้อยสิบสองขั้น และหัวเข่าของเขาไม่เหมือนเดิมแล้ว",
  bengali: "রক্ষক প্রতি সন্ধ্যায় গোধূলিতে সিঁড়ি বেয়ে ওঠেন। দুইশো বারোটি ধাপ, আর তাঁর হাঁটু আর আগের মতো নেই।",
  tamil: "காவலர் ஒவ்வொரு மாலையும் அந்தி நேரத்தில் படிகளில் ஏறுகிறார். இருநூற்றுப் பன்னிரண்டு படிகள், அவரது முழங்கால்கள் முன்பு போல் இல்லை.",
  georgian: "მცველი ყოველ საღამოს, შებინდებისას, კიბეზე ადის. ორას თორმეტი საფეხურია, მუხლები კი ისეთი აღარ აქვს.",
  armenian:
    "Պահապանն ամեն երեկո մթնշաղին բարձրանում է աստիճաններով։ Երկու հարյուր տասներկու աստիճան, իսկ ծնկներն առաջվանը չեն։",
  german:
    "Der Wärter steigt jeden Abend bei Dämmerung die Treppe hinauf. Es sind zweihundertzwölf Stufen, und seine Knie sind nicht mehr, was sie einmal waren.",
  polish:
    "Latarnik wspina się po schodach każdego wieczoru o zmierzchu. Dwieście dwanaście stopni, a kolana już nie te, co dawniej.",
  turkish:
    "Fener bekçisi her akşam alacakaranlıkta merdivenleri tırmanır. İki yüz on iki basamak var ve dizleri artık eskisi gibi değil.",
  vietnamese:
    "Người gác hải đăng leo cầu thang mỗi tối lúc hoàng hôn. Hai trăm mười hai bậc, và đầu gối của ông không còn như xưa.",
  code: 'export function rise(tide: number[]): number {\n\treturn tide.reduce((a, b) => Math.max(a, b), -1e9); // O(n)\n}\n\nif (x !== null && y?.["z"] >= 0x1F) { console.log(`${x}/${y}`); }\n',
  json: '{"id":"gen_01HZX","messages":[{"role":"user","content":"caf\\u00e9 — 12,50 €"}],"usage":{"prompt_tokens":1234,"ratio":0.8714},"ok":true,"next":null}',
} as const;

/** What tokenizers trip over. */
export const EDGE_TEXTS: readonly string[] = [
  "<|endoftext|><|im_start|>user<|im_end|><|fim_prefix|><|begin_of_text|>",
  "don't DON'T don’t it'S I'Ve we'LL they'RE I'm I'D 'tis 'ſ x'ſy",
  "  leading,   double  and trailing   ",
  "\n\n \n\t\r\n \r x\r\n\r\ny \n z",
  "\u0085a\u0085\u0085b\u00a0c\u2003d\u2028e\ufefff\u200bg\u3000h",
  "1 12 123 1234 12345 ١٢٣٤ Ⅻ ½ ²³ 1,234.56",
  "e\u0301 \u0301\u0301a A\u0301B a\u0301'\u0301s ᾼ ǅ ʰ ªAB ŒUVRE İi ẞß",
  "👨‍👩‍👧‍👦 🇩🇪 ❤️ 🪑🪑 👍🏽 ☎️ ©®™",
  "\ud800 a\udc00b \ud83d \ude00 \udc00\ud800",
  "iPhone XMLHttpRequest fooBAR FOObar SHOUTING Élan ÀÉÎ",
  "a/b//c /\n/ ///\n\n/x http://example.org/a?b=c&d=%20#e",
  "=== --- *** ___ ... ??? !!! ({[<>]}) \\\\ `~` ^",
  "字".repeat(300),
  "a".repeat(700),
  " ".repeat(500),
  "=".repeat(500),
  "\u0000\u0007\u001b[31m\u007f\u0600\ue000\u{10ffff}",
];

const CHARACTERS = [
  " \t\n\r'/.,-_=!?(){}[]<>|\"*#0123456789",
  "aAbBzZéÉßſſKİıǅʰªø",
  "жЖчαΩאعक字海ひカ각กⅫ½٣९",
  "\u0301\u093f\u0e31\u200d\ufe0f\u0085\u00a0\u2028\u3000\ufeff\u0000\u00ad\ue000",
  "\u{1d400}\u{20bb7}\u{10ffff}",
].flatMap((characters) => characters.match(/./gsu) ?? []);

const FRAGMENTS = CHARACTERS.concat(
  ["👨‍👩‍👧", "🇩🇪", "❤️", "\ud800", "\udc00"],
  ["the", "The", " the", "THE", "ing", "'s", "'LL", "’re", "\r\n", "  ", "    ", "://", "<|endoftext|>", "1234"],
);

/** `count` texts of 1 to 40 parts, the same for the same seed: fragments, random code points, runs of one character. */
export function* fuzzTexts(seed: number, count: number): Generator<string> {
  const below = dice(seed);
  for (let made = 0; made < count; made += 1) {
    let text = "";
    for (let part = below(40); part >= 0; part -= 1) text += fuzzPart(below);
    yield text;
  }
}

function fuzzPart(below: (limit: number) => number): string {
  const fragment = FRAGMENTS[below(FRAGMENTS.length)] ?? "";
  const kind = below(20);
  if (kind === 0) return fragment.repeat(1 + below(30));
  if (kind === 1) return String.fromCodePoint(below(0x110000));
  if (kind === 2) return String.fromCodePoint(below(0x3000));
  return fragment;
}

/** Every `step`-th code point, each where it may change how its neighbours are cut. */
export function* codePointTexts(step: number): Generator<string> {
  for (let codePoint = 0; codePoint <= 0x10ffff; codePoint += step) {
    const character = String.fromCodePoint(codePoint);
    yield `aB${character}Cd ${character} 1${character}\n${character}'${character}s.${character}/`;
    yield `)${character}’re THE${character}the${character}THE the${character}'s {${character}ing`;
  }
}

// A linear congruential generator (Numerical Recipes): its upper bits are random enough for choosing.
function dice(seed: number): (limit: number) => number {
  let state = seed >>> 0;
  return (limit) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * limit);
  };
}
