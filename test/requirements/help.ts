import type { Requirements } from '../requirement.ts'

/** Help: documentation search. */
export const help = {
  'help:embed:lsa': {
    origin: 'design, Help: search without a network',
    behaviour: 'texts are found by what they mean without a network, the same way in every training',
  },
  'help:embed:endpoint': {
    origin: 'original help database, embeddings',
    behaviour: 'an OpenAI-compatible endpoint is asked in batches, and its answers put in order',
  },
  'help:embed:dimensions': {
    origin: 'defects of other documentation servers: mixed dimensions',
    behaviour: 'vectors of another length or space are rejected with the names of both spaces',
  },
  'help:embed:invalid': {
    origin: 'design, Help: embeddings',
    behaviour: 'an unexpected answer is rejected',
  },
  'help:chunk:range': {
    origin: 'design, Help: results can be opened',
    behaviour: 'the lines and columns of every chunk give exactly its text, within the size',
  },
  'help:chunk:whole': {
    origin: 'original help database, chunking',
    behaviour: 'every line of a page is in a chunk',
  },
  'help:chunk:fence': {
    origin: 'defects of the original: headings in code',
    behaviour: 'lines of code are not headings, and a fence that fits is not split',
  },
  'help:page:front-matter': {
    origin: 'design, Help: pages',
    behaviour: 'front matter sets the title, section and language, and can make a page internal',
  },
  'help:page:language': {
    origin: 'design, Help: Chinese, Japanese, Korean',
    behaviour: 'the language of a page is detected by its folder or its script',
  },
  'help:build:incremental': {
    origin: 'original help database, build',
    behaviour: 'a second build reuses everything except changed files',
  },
  'help:build:no-stale': {
    origin: 'defects of the original: stale chunks',
    behaviour: 'after an edit, a rename or a removal, the old text is not found',
  },
  'help:build:same-name': {
    origin: 'defects of the original: path collision',
    behaviour: 'pages with the same name in a public and an internal source are both indexed',
  },
  'help:build:partial': {
    origin: 'defects of the original: clean-up',
    behaviour: 'a build of some sources retains the pages of the others',
  },
  'help:build:crash': {
    origin: 'design, Help: build',
    behaviour: 'a crashed build does not affect the published index, and the next build removes its files',
  },
  'help:build:lock': {
    origin: 'design, Help: build',
    behaviour: 'builds never run concurrently, and the lock of a dead process is taken over',
  },
  'help:build:chunking': {
    origin: 'design, Help: chunking',
    behaviour: 'chunks of two sizes are never mixed without a rebuild',
  },
  'help:build:odd-files': {
    origin: 'design, Help: pages',
    behaviour: 'unusual files are read or skipped with a reason, and no link leaves a source',
  },
  'help:source:names': {
    origin: 'design, Help: sources',
    behaviour: 'sources are folders, internal folders and packages, and invalid entries are rejected',
  },
  'help:source:bad': {
    origin: 'defects: one bad source disabled the others',
    behaviour:
      'a source that cannot be read is reported, its indexed pages remain, and the others are searched',
  },
  'help:source:npm': {
    origin: 'design, Help: sources',
    behaviour:
      'the pages of a version of an npm package are fetched once from a registry, verified, and reported if that fails',
  },
  'help:sections:pages': {
    origin: 'defects: a listing of thousands of documents exceeded the context of a model',
    behaviour: 'list_help_sections returns pages of limited length, and each document once',
  },
  'help:source:html': {
    origin: 'design, Help: sources',
    behaviour: 'the HTML files of a folder without Markdown are pages, without navigation and scripts',
  },
  'help:source:site': {
    origin: 'design, Help: sources',
    behaviour:
      'the pages that an llms.txt links to are fetched once, within limits, from its origin and configured ones only',
  },
  'help:source:rst': {
    origin: 'design, Help: sources',
    behaviour: 'reStructuredText files are pages, with headings, labels, code and the text of directives',
  },
  'help:source:own': {
    origin: 'design, Help: out of the box',
    behaviour: 'without settings the documentation of Causeway, Fastify and undici is searched',
  },
  'help:search:grouped': {
    origin: 'defects of the original: too few documents, lucky chunks',
    behaviour: 'all requested documents are returned, sorted by the fused score, with chunks in page order',
  },
  'help:search:range': {
    origin: 'design, Help: results can be opened',
    behaviour: 'the line range of each result contains exactly the returned text',
  },
  'help:search:section': {
    origin: 'defects of the original: a small section is not found',
    behaviour:
      'a section is searched alone, case-insensitively, and an unknown section is rejected with similar names',
  },
  'help:search:identifier': {
    origin: 'design, Help: names of code',
    behaviour: 'an identifier is found exactly as written',
  },
  'help:search:links': {
    origin: 'literature: anchor texts describe the page that they lead to',
    behaviour: 'a page is found by the text of links to it, except those of internal pages',
  },
  'help:search:parts': {
    origin: 'literature: names of code split into words',
    behaviour: 'a query in plain words finds camel-case names that contain the words',
  },
  'help:search:budget': {
    origin: 'complaints about documentation servers: flooded contexts',
    behaviour: 'a result has at most the requested number of characters and marks a truncation',
  },
  'help:search:cjk': {
    origin: 'design, Help: Chinese, Japanese, Korean',
    behaviour: 'queries without spaces between words find their pages',
  },
  'help:search:records': {
    origin: 'defects: decision records outranked the guides',
    behaviour: 'guides rank before decision records, unless the query asks for decisions',
  },
  'help:search:fuzz': {
    origin: 'design, Help: ranking',
    behaviour: 'no query text causes a syntax error',
  },
  'help:internal:scope': {
    origin: 'defects of the original: internal text by guessed numbers',
    behaviour: 'an internal page is not found, opened, listed or suggested without permission',
  },
  'help:document:lines': {
    origin: 'defects of the original: overlap returned twice',
    behaviour: 'a document is returned by lines without repetition',
  },
  'help:space:endpoint': {
    origin: 'original help database, embeddings',
    behaviour: 'an endpoint finds texts by meaning and receives only new texts',
  },
  'help:space:mismatch': {
    origin: 'complaints about documentation servers: mixed dimensions',
    behaviour:
      'vectors of different models are not mixed: a build fails, and a search uses words and reports the mismatch',
  },
  'help:space:away': {
    origin: 'design, Help: embeddings',
    behaviour: 'search uses words while the endpoint is unavailable, and reports it',
  },
  'help:export:canary': {
    origin: 'original export safety',
    behaviour: 'no file of an export contains data of an internal page',
  },
  'help:export:same-bytes': {
    origin: 'design, Help: export',
    behaviour: 'a change of internal pages does not change the bytes of the exported index',
  },
  'help:export:verify': {
    origin: 'design, Help: export',
    behaviour: 'an export that contains a sentence, path or word of an internal page is rejected',
  },
  'help:export:deleted': {
    origin: 'defects of the original: a failed export is a warning',
    behaviour: 'an unsafe export fails and is deleted',
  },
  'help:export:size': {
    origin: 'defects of the original: vectors as decimal text',
    behaviour: 'vectors take four bytes for each component',
  },
  'help:import': {
    origin: 'defects of the original: an import is skipped',
    behaviour: 'an import replaces the pages of its sources, retains other pages and can be repeated',
  },
  'help:import:refused': {
    origin: 'design, Help: import',
    behaviour: 'an export that is missing, modified, invalid or of another version is rejected',
  },
  'help:tools': {
    origin: 'original help app, exposed tools',
    behaviour: 'the four tools exist with their names, arguments, defaults and former names',
  },
  'help:tools:results': {
    origin: 'original help app, results',
    behaviour: 'results are grouped by document and contain section, heading, anchor, lines, score and ranks',
  },
  'help:tools:mistakes': {
    origin: 'complaints about documentation servers: ignored arguments',
    behaviour:
      'unknown arguments, documents, sections and sources are rejected, with similar names if any exist',
  },
  'help:internal:word': {
    origin: 'defects of the original: include_internal by anybody',
    behaviour: 'callers cannot request internal pages unless the operator allows it',
  },
  'help:internal:allowed': {
    origin: 'original help app, include_internal',
    behaviour: 'if the operator allows it, internal pages are returned on request',
  },
  'help:internal:canary': {
    origin: 'original export safety',
    behaviour: 'no result, resource, log line or health report contains data of an internal page',
  },
  'help:resources': {
    origin: 'design, Help: resources',
    behaviour: 'public documents, sections and llms.txt are resources',
  },
  'help:prompt': {
    origin: 'design, Help: prompt',
    behaviour: 'the prompt contains the question and the tool to call',
  },
  'help:start': {
    origin: 'design, Help: out of the box',
    behaviour: 'the server starts without an index, and the first query waits for the first index',
  },
  'help:workers': {
    origin: 'design, budgets: resident memory',
    behaviour: 'no worker runs after a build, or after five minutes without a query',
  },
  'help:build:announced': {
    origin: 'design, Help: build',
    behaviour: 'concurrent builds are joined, and a finished build is announced once',
  },
  'help:build:under-load': {
    origin: 'design, Help: build',
    behaviour: 'queries return complete results while the index is replaced',
  },
  'help:e2e:story': {
    origin: 'original help app',
    behaviour: 'a query, its lines and its document are equal over HTTP and the bridge',
    over: ['http', 'bridge'],
  },
  'help:alias': {
    origin: 'original help app, names',
    behaviour: 'the tools accept their former names and do not list them',
  },
  'help:curl': {
    origin: 'original design, testing the server directly',
    behaviour: 'the third curl of the original works as it was written',
  },
  'help:e2e:rebuild': {
    origin: 'original design, build process',
    behaviour: 'a running server uses and announces the index of another build',
  },
  'help:e2e:canary': {
    origin: 'original export safety',
    behaviour:
      'no result, list, health report, metric or log line of the server contains data of an internal page',
  },
  'help:quality': {
    origin: 'design, Help: search quality',
    behaviour:
      'over the documentation of Fastify and undici, hybrid search is at least as good as each list and as the baseline',
  },
  'help:internal:editions': {
    origin: 'defects: scores and neighbours of public searches depended on internal pages',
    behaviour: 'adding or changing internal pages does not change public results',
  },
  'help:internal:off': {
    origin: 'defects: internal pages were indexed on servers that do not serve them',
    behaviour: 'without CAUSEWAY_HELP_INTERNAL, no file of the index contains an internal page',
  },
  'help:postgres': {
    origin: 'design, Help: PostgreSQL',
    behaviour: 'PostgreSQL fulfils the storage contract, and tables of another version are rejected',
  },
  'help:postgres:ranking': {
    origin: 'defects: PostgreSQL ranked English questions worse than SQLite',
    behaviour: 'PostgreSQL ranks chunks and pages by the same terms and formula as SQLite',
  },
  'help:postgres:speed': {
    origin: 'defects: a query counted the chunks of each word once per matching chunk',
    behaviour: 'a query in PostgreSQL counts the matches of each word once',
  },
  'help:example': {
    origin: 'design, examples',
    behaviour: 'the example asks the documentation and prints what its README shows',
  },
  'help:indexing': {
    origin: 'design, Help: out of the box',
    behaviour: 'a result reports the progress of indexing',
  },
} as const satisfies Requirements
