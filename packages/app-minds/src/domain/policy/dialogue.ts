export type DialogueAct =
  | 'greeting'
  | 'farewell'
  | 'thanks'
  | 'acknowledgement'
  /** "I am tired." */
  | 'condition'
  /** "How are you?" */
  | 'wellbeing'
  /** "What is new?" */
  | 'news'
  /** "Are you still there?" */
  | 'presence'
  /** "Who are you?" */
  | 'identity'
  /** "Shall we go?" */
  | 'proposal'
  | 'question'
  | 'statement'

export interface Sentence {
  readonly act: DialogueAct
  readonly text: string
}

const greetingPattern =
  /^(?:oh,? |ah,? )?(?:hello|hi|hey|greetings|good (?:morning|day|evening|afternoon)|welcome(?! to\b)|(?:nice|good) to (?:meet|see) you)\b(?: there| again)*/i

const addressPattern = /^(?:,? \p{Lu}[\p{L}'’-]*(?=[\s,.!?]|$))*[\s,.!-]*/u

function findGreeting(sentence: string): string {
  const [word] = greetingPattern.exec(sentence) ?? []
  if (word === undefined) return ''
  const [name = ''] = addressPattern.exec(sentence.slice(word.length)) ?? []
  return word + name
}

/** Splits an utterance into sentences. Separates a greeting from the words after it. */
export function parseUtterance(text: string): readonly Sentence[] {
  const sentences = text.trim().split(/(?<=[.!?…]["'”’)]?)\s+(?=\S)/u)
  return sentences.flatMap((sentence): Sentence[] => {
    if (sentence === '') return []
    const greeting = findGreeting(sentence)
    const remainder = sentence.slice(greeting.length)
    if (greeting === '') return [{ act: classifySentence(sentence), text: sentence }]
    if (!/[\p{L}\p{N}]/u.test(remainder)) return [{ act: 'greeting', text: sentence }]
    return [
      { act: 'greeting', text: greeting.trim() },
      { act: classifySentence(remainder), text: remainder },
    ]
  })
}

const questionActs: ReadonlySet<DialogueAct> = new Set([
  'wellbeing',
  'news',
  'presence',
  'identity',
  'proposal',
  'question',
])

export const findQuestion = (text: string): Sentence | undefined =>
  parseUtterance(text).findLast(({ act }) => questionActs.has(act))

export const isFarewell = (text: string): boolean =>
  parseUtterance(text).some(({ act }) => act === 'farewell')

/** Patterns of whole sentences, in order of precedence. */
const actPatterns: readonly (readonly [DialogueAct, RegExp])[] = [
  [
    'farewell',
    /^(?:(?:ok(?:ay)?|well|so|then|now|and)[, ]+)*(?:good ?bye|bye|farewell|see you|good night|take care|until (?:tomorrow|later|next time|we meet))\b/,
  ],
  ['farewell', /\b(?:good ?bye|bye(?: bye)?)(?:,? [\p{L}' -]{1,30})?$/u],
  [
    'farewell',
    /^(?:(?:ok(?:ay)?|well|so|sorry|now|but)[, ]+)*i (?:must|have to|need to|should|ought to|had better) (?:go|leave|be going|be off)(?: now| soon| again)?$/,
  ],
  [
    'farewell',
    /^(?:(?:ok(?:ay)?|well|so|now)[, ]+)*(?:i(?: will|'ll)? (?:be|am) on my way|it (?:was|has been) (?:good|nice|a pleasure) (?:to (?:talk|see|meet|speak)|talking|seeing|meeting|speaking)(?: (?:to|with))? you)(?: again)?$/,
  ],
  [
    'wellbeing',
    /^(?:(?:and|so|well)[, ]+)*(?:how (?:are|do|have) (?:you|things|we)(?: (?:do|doing|feel|feeling|been|keeping|getting on))?|how(?:'s| is) (?:it going|life|everything|your day going)|are you (?:well|ok|okay|alright|all right|fine|hungry|tired|bored|lonely|thirsty|sleepy|happy|sad|dirty|cold)|do you feel \w+|what about you|how about you|you|yourself|is (?:everything|all) (?:ok|okay|well|all right|fine)|what(?:'s| is) (?:wrong|the matter))(?: today| now| this (?:morning|evening|afternoon)| at the moment)?$/,
  ],
  [
    'news',
    /^(?:(?:and|so|well)[, ]+)*(?:what(?:'s| is| are) (?:new|the news|up|going on|you doing|you up to)|any news|(?:have you|do you have|is there|have you heard) (?:any|some|the) (?:latest )?news|what(?: else)? have you (?:seen|done|heard|been doing|been up to)|have you (?:seen|heard|found|done) (?:anything|something)(?: \w+)?|how was your day|what did you do|what is there to tell|tell me (?:something(?: new| interesting)?|about your day|the news|more))(?: today| lately| recently| interesting| new| since)*$/,
  ],
  ['presence', /^(?:are you (?:still )?(?:there|here|listening|awake)|can you hear me|what do you think)$/],
  [
    'identity',
    /^(?:(?:and|so)[, ]+)*(?:who are you|what(?:'s| is) your name|what are you called|what(?:'s| is) you name)$/,
  ],
  [
    'proposal',
    /^(?:(?:so|well)[, ]+)*(?:shall we|let us|let's|why don't we|(?:do you )?want to|would you like to|(?:will|would|can|could) you (?:please )?(?:come|join|go|help|follow|walk|eat|meet|lend|give|bring|show|play|wait|stay|teach|marry)|come with me)\b/,
  ],
  [
    'thanks',
    /^(?:(?:ok(?:ay)?|oh|well|ah|no|yes|great|good|wonderful)[,! ]+)*(?:thank you|thanks|many thanks|much obliged|that(?:'s| is) (?:very )?kind)\b/,
  ],
  [
    'acknowledgement',
    /^(?:(?:ok(?:ay)?|oh|well|ah|yes|no|so|really)[, ]+)*(?:i see|(?:that(?:'s| is) )?good to (?:know|hear)|(?:i am|i'm) (?:glad|sorry|happy|pleased) (?:to hear|about) (?:that|it)|i (?:will|shall|'ll) remember (?:that|it)|ok(?:ay)?|all ?right|yes|no|aha|oh|indeed|really|right|sure|of course|fine|good|great|maybe|perhaps|interesting|how interesting|that is (?:bad |good |interesting )?news(?: to me)?|i did not know that|i didn't know that|i have heard that(?:,? too)?|you(?:'re| are) welcome|don't mention it|not at all|i understand|i (?:don't|do not) (?:know|remember)(?: that| it| anything about (?:that|it))?(?:,? i am afraid)?|nothing (?:new|much)|perhaps another time|here i am|yes,? i am here|i hope (?:so|not|it passes soon|that (?:you feel better soon|it is free))|(?:then )?i will not keep you(?: long)?|never mind|well)$/,
  ],
  [
    'condition',
    /^(?:(?:oh|well|ah|yes|no|thanks|thank you)[, ]+)*(?:(?:i(?:'m| am)|i feel)(?: (?:feeling|doing|very|quite|rather|really|so|not|a (?:little|bit)|still|too))* (?:well|fine|ok(?:ay)?|all right|alright|good|great|tired|exhausted|sleepy|hungry|starving|thirsty|bored|lonely|sad|happy|content|sick|ill|cold|calm|worried|desperate|relieved|frustrated|in need of [a ]*\w+|low on \w+)\b|not (?:so |too )?(?:bad|well|good)|could be better|things could be)/,
  ],
]

const auxiliaryPattern =
  'is|are|was|were|am|do|does|did|can|could|will|would|shall|should|has|have|had|may|might|must'
const subjectPattern = `you|i|he|she|it|we|they|there|the|an?|any\\w*|some\\w*|every\\w*|no one|this|that|these|those|your|my|his|her|our|their`
const nounPattern = `(?!(?:${subjectPattern})\\b)[\\p{L}'-]+`

const openQuestionPatterns: readonly RegExp[] = [
  // "What is", "where did", but not "what a", "when I", "which reminds me".
  new RegExp(`^(?:what|where|when|why|how|which|whose|whom)(?:'s|\\s+(?:${auxiliaryPattern}))\\b`, 'u'),
  // "Which way is", "how many sheep does", but not "what Ben did".
  new RegExp(`^(?:what|which|whose|how)\\s+(?:${nounPattern}\\s+){1,3}?(?:${auxiliaryPattern})\\b`, 'u'),
  new RegExp(
    `^(?:in|on|at|to|from|for|with|by|of)\\s+(?:what|which|whom|whose)\\b.*\\b(?:${auxiliaryPattern})\\b`,
    'u',
  ),
  /^who(?:'s)?\s+(?!knows\b|cares\b)/u,
  new RegExp(
    `^(?:is|are|was|were|do|does|did|can|could|will|would|has|had|have|should)(?:n't)?\\s+(?:${subjectPattern})\\b(?! (?:good|nice|safe) )`,
    'u',
  ),
  /^(?:please[, ]+)?(?:(?:can|could|will|would) you )?(?:please )?(?:tell me|let me know|remind me|explain to me)\b/u,
  /^(?:i (?:would|should) like to know|i'd like to know|i (?:want|need|wish) to know|i wonder|i am asking|do you (?:know|remember|happen))\b/u,
]

function classifySentence(sentence: string): DialogueAct {
  const words = sentence
    .trim()
    .replace(/[’]/g, "'")
    .replace(/,\s+\p{Lu}[\p{L}'-]*(?=[.!?…]*$)/u, '')
    .replace(/["'”]*[.!?…]+["'”]*$/u, '')
  const lowerText = words.toLowerCase().trim()
  const matchingPattern = actPatterns.find(([, pattern]) => pattern.test(lowerText))
  if (matchingPattern !== undefined) return matchingPattern[0]
  if (/\?["'”’]*$/u.test(sentence.trim())) return 'question'
  // A name after the question word starts a statement: "What Ben did".
  const isNamed = /^(?:What|Which|How|When|Where|Why)\s+\p{Lu}/u.test(words)
  return !isNamed && openQuestionPatterns.some((pattern) => pattern.test(lowerText))
    ? 'question'
    : 'statement'
}
