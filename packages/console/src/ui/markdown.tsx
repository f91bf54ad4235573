import { lexer, type Token, type Tokens } from 'marked'
import type { ComponentChildren } from 'preact'
import { isInvisibleHtml } from '../domain/excerpt.ts'

interface MarkdownProps {
  readonly text: string
  readonly show: (text: string) => ComponentChildren
}

/** Shows HTML, links and images as text. */
export const Markdown = ({ text, show }: MarkdownProps) => (
  <div class="markdown stack">
    {lexer(text).map((token, index) => (
      <Block key={index} token={token} show={show} />
    ))}
  </div>
)

interface TokenProps {
  readonly token: Token
  readonly show: MarkdownProps['show']
}

function Block({ token, show }: TokenProps) {
  if (isInvisibleHtml(token.raw)) return null
  switch (token.type) {
    case 'space':
    case 'hr':
    case 'def':
      return null
    case 'code':
      return <pre>{show(token.text)}</pre>
    case 'table':
      return <Table table={token as Tokens.Table} show={show} />
    case 'list':
      return <List list={token as Tokens.List} show={show} />
    case 'blockquote':
      return <blockquote>{showBlocks(token.tokens, show)}</blockquote>
    case 'heading':
      return (
        <p class="heading">
          <Inline token={token} show={show} />
        </p>
      )
    default:
      return (
        <p class="long-line">
          <Inline token={token} show={show} />
        </p>
      )
  }
}

const showBlocks = (tokens: readonly Token[] | undefined, show: MarkdownProps['show']) =>
  (tokens ?? []).map((token, index) => <Block key={index} token={token} show={show} />)

function Inline({ token, show }: TokenProps) {
  const inner = 'tokens' in token ? token.tokens : undefined
  if (inner !== undefined)
    return (
      <>
        {inner.map((one, index) => (
          <InlineElement key={index} token={one} show={show} />
        ))}
      </>
    )
  return <>{show('text' in token ? token.text : token.raw)}</>
}

function InlineElement({ token, show }: TokenProps) {
  if (token.type === 'html' && isInvisibleHtml(token.raw)) return null
  const content = <Inline token={token} show={show} />
  switch (token.type) {
    case 'strong':
      return <strong>{content}</strong>
    case 'em':
      return <em>{content}</em>
    case 'codespan':
      return <code>{content}</code>
    case 'br':
      return <br />
    default:
      return content
  }
}

function List({ list, show }: { list: Tokens.List } & Pick<MarkdownProps, 'show'>) {
  const items = list.items.map((item, index) => <li key={index}>{showBlocks(item.tokens, show)}</li>)
  return list.ordered ? <ol start={Number(list.start) || 1}>{items}</ol> : <ul>{items}</ul>
}

function Table({ table, show }: { table: Tokens.Table } & Pick<MarkdownProps, 'show'>) {
  const showRow = (cells: readonly Tokens.TableCell[], Cell: 'td' | 'th') =>
    cells.map((cell, index) => (
      <Cell key={index}>
        <Inline token={{ type: 'text', raw: cell.text, text: cell.text, tokens: cell.tokens }} show={show} />
      </Cell>
    ))
  return (
    <div class="scroll">
      <table>
        {table.header.some(({ text }) => text !== '') && (
          <thead>
            <tr>{showRow(table.header, 'th')}</tr>
          </thead>
        )}
        <tbody>
          {table.rows.map((cells, index) => (
            <tr key={index}>{showRow(cells, 'td')}</tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}
