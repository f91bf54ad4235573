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
    behaviour: 'vectors of another length or space are refused with both spaces named',
  },
  'help:embed:invalid': {
    origin: 'design, Help: embeddings',
    behaviour: 'an answer that is not what it should be is refused and never guessed at',
  },
  'help:chunk:range': {
    origin: 'design, Help: results can be opened',
    behaviour: 'the lines and columns of every piece slice the page to exactly its text, within the size',
  },
  'help:chunk:whole': {
    origin: 'original help database, chunking',
    behaviour: 'every line of a page is in a piece',
  },
  'help:chunk:fence': {
    origin: 'defects of the original: headings in code',
    behaviour: 'lines of code are no headings, and a fence that fits is not divided',
  },
  'help:page:front-matter': {
    origin: 'design, Help: pages',
    behaviour: 'front matter gives title, section, language, and makes a page internal',
  },
  'help:page:language': {
    origin: 'design, Help: Chinese, Japanese, Korean',
    behaviour: 'the language of a page is known by its folder or its script',
  },
  'help:build:incremental': {
    origin: 'original help database, build',
    behaviour: 'a second build makes nothing again, and a changed file only itself',
  },
  'help:build:no-stale': {
    origin: 'defects of the original: stale chunks',
    behaviour: 'after an edit, a rename or a removal nothing of the old text is found',
  },
  'help:build:same-name': {
    origin: 'defects of the original: path collision',
    behaviour: 'pages of one name in a public and an internal source are both right',
  },
  'help:build:partial': {
    origin: 'defects of the original: clean-up',
    behaviour: 'a build of some sources leaves the pages of the others',
  },
  'help:build:crash': {
    origin: 'design, Help: build',
    behaviour: 'a build that dies leaves the index before it answering, and the next one repairs',
  },
  'help:build:lock': {
    origin: 'design, Help: build',
    behaviour: 'two builds never run at once, and one that was killed blocks none for long',
  },
  'help:build:chunking': {
    origin: 'design, Help: chunking',
    behaviour: 'pieces of two sizes are never mixed without a rebuild',
  },
  'help:build:odd-files': {
    origin: 'design, Help: pages',
    behaviour: 'odd files are read or left out with a reason, and no link leads out of a source',
  },
  'help:source:names': {
    origin: 'design, Help: sources',
    behaviour: 'sources are folders, internal folders and packages, and mistakes are named',
  },
  'help:source:own': {
    origin: 'design, Help: out of the box',
    behaviour: 'without settings the documentation of Causeway, Fastify and undici is searched',
  },
} as const satisfies Requirements
