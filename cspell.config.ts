import { exempt, flagWords } from './test/language/vocabulary.ts'

/** Settings of cspell for `npm run lint` and for editors. */
export default {
  version: '0.2',
  language: 'en,en-GB',
  dictionaries: ['typescript', 'node', 'npm', 'python', 'bash', 'project'],
  dictionaryDefinitions: [
    { name: 'project', path: './test/language/dictionary.txt' },
    { name: 'test-data', path: './test/language/dictionary-test-data.txt' },
  ],
  flagWords,
  overrides: [
    // An ignored word is accepted even if it is flagged; unknown words are reported here as everywhere.
    {
      filename: exempt.flatMap((path) => [path, `${path}/**`]),
      ignoreWords: flagWords.map((entry) => entry.replace(/->.*/, '')),
    },
    // Deliberate misspellings: inputs of the code that corrects or tolerates them.
    {
      filename: [
        'bridge/test/program.test.ts',
        'packages/app-minds/test/talk.test.ts',
        'packages/app-trm/test/{start-tool,submit}.test.ts',
        'packages/app-trm/test/domain/{fix,feedback}.test.ts',
        'packages/protocol/test/protocol.test.ts',
        'server/test/cli/commands.test.ts',
      ],
      ignoreRegExpList: ['/./g'],
    },
    // Fragments and misspellings in test data.
    {
      filename: ['{packages/*,server,bridge}/test/**', 'test/**'],
      dictionaries: ['test-data'],
    },
    // Suffixes and truncated words of a stemmer.
    {
      filename: ['packages/embed/test/lsa.test.ts'],
      ignoreRegExpList: ['/./g'],
    },
  ],
}
