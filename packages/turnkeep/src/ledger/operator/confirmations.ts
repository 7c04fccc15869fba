import { fold } from '../../core/fold.ts';

/** What people say to let a task continue, by language. Compared whole, ignoring case, outer punctuation and doubled spaces. */
const WORDS: { readonly [language: string]: readonly string[] } = {
  ar: ['نعم', 'أجل', 'استمر', 'تابع', 'موافق', 'حسنا'],
  bn: ['হ্যাঁ', 'ঠিক আছে', 'চালিয়ে যান'],
  cs: ['ano', 'jo', 'pokračuj', 'dobře'],
  da: ['ja', 'fortsæt', 'okay'],
  de: ['ja', 'jo', 'jawohl', 'weiter', 'mach weiter', 'los', 'einverstanden', 'passt', 'gerne'],
  el: ['ναι', 'συνέχισε', 'εντάξει'],
  en: [
    'yes',
    'y',
    'yeah',
    'yep',
    'yup',
    'sure',
    'ok',
    'okay',
    'k',
    'go',
    'go on',
    'go ahead',
    'continue',
    'proceed',
    'carry on',
    'keep going',
    'do it',
    'approved',
    'sounds good',
    'please do',
    'yes please',
  ],
  es: ['sí', 'si', 'claro', 'vale', 'dale', 'adelante', 'continúa', 'continua', 'sigue', 'de acuerdo'],
  fa: ['بله', 'آره', 'ادامه بده', 'باشه'],
  fi: ['kyllä', 'joo', 'jatka', 'selvä'],
  fr: ['oui', 'ouais', 'continue', 'vas-y', 'allez-y', "d'accord", 'd’accord', 'ça marche'],
  he: ['כן', 'המשך', 'תמשיך', 'בסדר'],
  hi: ['हाँ', 'हां', 'ठीक है', 'जारी रखें', 'आगे बढ़ो'],
  hu: ['igen', 'folytasd', 'rendben'],
  id: ['ya', 'lanjut', 'lanjutkan', 'oke', 'baik'],
  it: ['sì', 'si', 'continua', 'procedi', 'vai', 'va bene', "d'accord"],
  ja: ['はい', 'うん', 'お願いします', '続けて', '続けてください', '進めて', '了解', 'オーケー'],
  ko: ['네', '예', '응', '계속', '계속해', '계속해 주세요', '좋아요', '그래'],
  nl: ['ja', 'doorgaan', 'ga door', 'ga verder', 'prima', 'akkoord'],
  pl: ['tak', 'dalej', 'kontynuuj', 'dobrze', 'zgoda'],
  pt: ['sim', 'claro', 'continua', 'continue', 'prossiga', 'pode seguir', 'tá bom', 'está bem'],
  ro: ['da', 'continuă', 'bine', 'de acord'],
  ru: ['да', 'ага', 'угу', 'продолжай', 'продолжайте', 'давай', 'хорошо', 'ок'],
  sv: ['ja', 'fortsätt', 'kör', 'visst'],
  th: ['ใช่', 'ครับ', 'ค่ะ', 'ตกลง', 'ทำต่อ', 'ไปต่อ'],
  tr: ['evet', 'devam', 'devam et', 'tamam', 'olur'],
  uk: ['так', 'продовжуй', 'добре', 'гаразд'],
  vi: ['có', 'vâng', 'được', 'tiếp tục', 'đồng ý'],
  zh: ['好', '好的', '是', '是的', '对', '對', '继续', '繼續', '可以', '行', '嗯', '同意'],
};

const SIGNS = /^[\s\p{P}\p{S}]+|[\s\p{P}\p{S}]+$/gu;
const THUMBS = /^(?:👍|👌|✅|🆗)\p{Emoji_Modifier}?\ufe0f?$/u;

const KNOWN: ReadonlySet<string> = new Set(Object.values(WORDS).flat().map(plain));

/** True if a message says only that a task may continue, in any of some thirty languages. */
export function isConfirmation(text: string): boolean {
  return THUMBS.test(text.trim()) || KNOWN.has(plain(text));
}

function plain(text: string): string {
  return fold(text.normalize('NFC')).replace(SIGNS, '').replace(/\s+/g, ' ');
}
