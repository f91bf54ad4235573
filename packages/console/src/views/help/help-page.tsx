import '../pages.css'
import { useEffect, useState } from 'preact/hooks'
import { completeTables, removeHeading, truncateExcerpt } from '../../domain/excerpt.ts'
import { formatHash, parseHash } from '../../domain/link.ts'
import { findMatches } from '../../domain/matches.ts'
import { useConsole, useShortcuts } from '../../ui/console.ts'
import { ForeignText } from '../../ui/foreign-text.tsx'
import { Markdown } from '../../ui/markdown.tsx'
import { Chip, Empty, LoadedView, useLoaded } from '../../ui/state.tsx'

/** The part of `find_help_topics`' result that the page shows. */
interface Found {
  readonly results: readonly FoundDocument[]
  readonly total_candidates: number
  readonly took_ms: number
  readonly degraded?: { readonly message: string }
  readonly indexing?: string
}

interface FoundDocument {
  readonly doc_id: number
  readonly title: string
  readonly source: string
  readonly file_path: string
  readonly section: string
  readonly score: number
  readonly ranks: Readonly<Record<string, number>>
  readonly chunks: readonly {
    readonly item_id: number
    readonly heading: string
    readonly start_line: number
    readonly end_line: number
    readonly text: string
    readonly score: number
  }[]
}

interface Sections {
  readonly sections: readonly { readonly section: string; readonly documents?: readonly unknown[] }[]
  readonly summary: string
}

const modes = [
  ['hybrid', 'Words and meaning'],
  ['lexical', 'Words only'],
  ['vector', 'Meaning only'],
] as const

/** Maximum length of an excerpt in an expanded result. */
const maxExcerpt = 600

/** The query is part of the address. */
export function HelpPage() {
  const { server, navigation } = useConsole()
  const hash = parseHash(navigation.hash.value.text)
  const [text, setText] = useState(hash.get('q') ?? '')
  const [query, setQuery] = useState(text)
  const [mode, setMode] = useState<string>('hybrid')
  useEffect(() => {
    const timer = setTimeout(() => {
      setQuery(text.trim())
      navigation.replaceHash(formatHash(location.hash, { q: text.trim() === '' ? undefined : text.trim() }))
    }, 250)
    return () => clearTimeout(timer)
  }, [text])
  useShortcuts(() => [
    {
      keys: '/',
      label: 'Search the documentation',
      run: () => document.getElementById('help-query')?.focus(),
    },
  ])
  const access = server.needsToken.value
  const searchResult = useLoaded(
    (signal) =>
      query === ''
        ? Promise.resolve(undefined)
        : server.call<Found>('help', 'find_help_topics', { text: query, mode, top_n: 10 }, { signal }),
    [query, mode, access],
  )
  return (
    <div class="page">
      <div class="page-head">
        <h1>Help</h1>
        <p class="muted">The documentation of Causeway and of the indexed packages.</p>
      </div>
      <search class="search-bar">
        <input
          id="help-query"
          type="search"
          aria-label="Search the documentation"
          placeholder="A question, keywords or identifiers"
          maxLength={2000}
          value={text}
          onInput={(event) => setText(event.currentTarget.value)}
        />
        <select aria-label="Search by" value={mode} onChange={(event) => setMode(event.currentTarget.value)}>
          {modes.map(([value, label]) => (
            <option key={value} value={value}>
              {label}
            </option>
          ))}
        </select>
      </search>
      {query === '' ? (
        <SectionList />
      ) : (
        <LoadedView loaded={searchResult}>
          {(value) => value !== undefined && <Results searchResult={value} query={query} />}
        </LoadedView>
      )}
    </div>
  )
}

function SectionList() {
  const { server } = useConsole()
  const sections = useLoaded(
    (signal) => server.call<Sections>('help', 'list_help_sections', {}, { signal }),
    [server.needsToken.value],
  )
  return (
    <LoadedView loaded={sections}>
      {({ sections, summary }) => (
        <section class="stack" aria-labelledby="sections-title">
          <h2 id="sections-title">Sections</h2>
          <p class="muted">{summary}</p>
          <ul class="chips">
            {sections.map(({ section }) => (
              <li key={section} class="chip">
                <ForeignText text={section} max={60} />
              </li>
            ))}
          </ul>
        </section>
      )}
    </LoadedView>
  )
}

function Results({ searchResult, query }: { searchResult: Found; query: string }) {
  const { results, total_candidates, took_ms, degraded, indexing } = searchResult
  if (results.length === 0)
    return (
      <Empty title="No document matches">
        <p>Use other words, or search by meaning only.</p>
      </Empty>
    )
  return (
    <>
      <div class="row">
        <span class="muted">
          {results.length} of {total_candidates} documents · {Math.round(took_ms)} ms
        </span>
        {degraded !== undefined && <Chip severity="warn">words only: {degraded.message}</Chip>}
        {indexing !== undefined && <Chip severity="warn">{indexing}</Chip>}
      </div>
      <ol class="stack">
        {results.map((document, index) => (
          <li key={document.doc_id} class="card stack">
            <div class="row spread">
              <h2 class="long-line">
                <span class="muted">{index + 1}</span> <ForeignText text={document.title} />
              </h2>
              <span class="muted number">score {document.score.toFixed(3)}</span>
            </div>
            <p class="muted mono long-line">
              <bdi>
                {document.source}/{document.file_path}
              </bdi>{' '}
              · <ForeignText text={document.section} max={100} />
            </p>
            {document.chunks.map(({ item_id, heading, start_line, end_line, text }) => (
              <Excerpt
                key={item_id}
                heading={heading}
                lines={`lines ${start_line} to ${end_line}`}
                text={text}
                query={query}
              />
            ))}
            <p class="muted">
              Ranks:{' '}
              {Object.entries(document.ranks)
                .map(([list, rank]) => `${list} ${rank}`)
                .join(', ')}
            </p>
          </li>
        ))}
      </ol>
    </>
  )
}

const markMatches = (text: string, query: string) =>
  findMatches(text, query).map(({ text, isMatch }, index) =>
    isMatch ? <mark key={index}>{text}</mark> : text,
  )

interface ExcerptProps {
  readonly heading: string
  readonly lines: string
  readonly text: string
  readonly query: string
}

function Excerpt({ heading, lines, text, query }: ExcerptProps) {
  const [isOpen, setOpen] = useState(false)
  const body = completeTables(removeHeading(text))
  if (body.trim() === '') return null
  return (
    <div class="excerpt">
      <div class="row spread">
        <h3 class="long-line">
          <ForeignText text={heading} />
        </h3>
        <span class="muted">{lines}</span>
      </div>
      <Markdown
        text={isOpen ? body : truncateExcerpt(body, maxExcerpt)}
        renderText={(part) => markMatches(part, query)}
      />
      {body.length > maxExcerpt && (
        <button type="button" class="button" onClick={() => setOpen(!isOpen)}>
          {isOpen ? 'Show less' : 'Show all'}
        </button>
      )}
    </div>
  )
}
