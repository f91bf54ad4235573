// cspell:disable -- this file lists the words and phrases that are not to be used

/** Words that are never right in this project, each with its replacements, in the syntax of cspell: `word->replacement, …`. */
export const flagWords: readonly string[] = [
  'alike->the same, equally',
  'anew->again',
  'beside->next to, in addition to',
  'besides->also',
  'forth->forward',
  'hear->receive',
  'heard->received',
  'hears->receives',
  'hitherto->so far',
  'naught->nothing',
  'nobody->no one, no client',
  'nought->zero',
  'oneself->itself',
  'somebody->a client, a person',
  'tell->report, notify, return',
  'tellable->reportable',
  'telling->reporting',
  'tells->reports, notifies, returns',
  'thence->from there',
  'thereof->of it',
  'told->reported, notified, returned',
  'unheard->pending, queued',
  'untold->not reported',
  'whence->from where',
  'whereof->of which',
  'whoever->any client, the caller',
  'wholly->completely',
  'whom->which, the client',
  'whomever->any client',
  'whosoever->any client',
  'wish->request, option',
  'wished->requested',
  'wishes->requests, options',
]

/** Phrases that are not used in comments, texts and documents. A space also matches a line break within a comment. */
export const phrases: readonly RegExp[] = [
  /(is|are|was|were|be) none/,
  /lets? go( of)?/,
  /letting go/,
  /so long/,
  /one that/,
  /ones that/,
  /it stands/,
  /stands? (in|on|under|for itself|there)/,
  /is another one/,
  /at least so/,
  /at most so/,
  /may be had/,
  /to be had/,
  /of the past/,
  /(?<!there )(is|are) no (?!longer|more|less|op|such)[a-z]+/,
  /(?<!to )know(s|n)? (of|no)/,
  /knows that/,
  /(is|are) (kept|given back|taken back)/,
  /goes on/,
  /says? (so|that|what|which)/,
  /wants (it|them|to|no|a)/,
  /of (our|its|their|his) own accord/,
  /as (it|they) (pleases?|likes?)/,
]

/** Names that a file must not declare: `mostBytes` is `maxBytes`, `leastDistance` is `minDistance`, `bodyOf` is `buildBody`. */
export const names: readonly RegExp[] = [/^(most|least)[A-Z]/, /[a-z]Of$/]

/** Names of JavaScript and of JSON Schema that a pattern of `names` matches. */
export const standardNames: ReadonlySet<string> = new Set([
  'allOf',
  'anyOf',
  'getPrototypeOf',
  'indexOf',
  'instanceOf',
  'lastIndexOf',
  'oneOf',
  'setPrototypeOf',
  'valueOf',
])

/** Files that contain everyday language as data, such as search questions and the dialogue of Minds, and the lists of this folder. */
export const exempt: readonly string[] = [
  'bench/help/fresh.ts',
  'bench/help/held-out.ts',
  'packages/app-minds/src/domain/policy/dialogue.ts',
  'packages/app-minds/src/domain/policy/speech.ts',
  'packages/app-minds/src/domain/question.ts',
  'packages/app-minds/src/domain/judge-answer.ts',
  'packages/app-minds/test/dialogue.test.ts',
  'packages/app-minds/src/domain/words.ts',
  'packages/app-minds/src/memory/everyday-language.ts',
  'scripts/words/make-relations.ts',
  'test/language',
  'test/language.test.ts',
]

/** Whether a list of folders and files covers a path. */
export function covers(list: readonly string[], path: string): boolean {
  return list.some((entry) => path === entry || path.startsWith(`${entry}/`))
}
