import { lexer, type Token, type Tokens } from 'marked'
import type { ComponentChildren } from 'preact'
import { isInvisibleHtml } from '../domain/excerpt.ts'

interface MarkdownProps {
  readonly text: string
  readonly renderText: (text: string) => ComponentChildren
}

/** Shows HTML, links and images as text. */
export const Markdown = ({ text, renderText }: MarkdownProps) => (
  <div class="markdown stack">
    {lexer(text).map((token, index) => (
      <Block key={index} token={token} renderText={renderText} />
    ))}
  </div>
)

interface TokenProps {
  readonly token: Token
  readonly renderText: MarkdownProps['renderText']
}

function Block({ token, renderText }: TokenProps) {
  if (isInvisibleHtml(token.raw)) return null
  switch (token.type) {
    case 'space':
    case 'hr':
    case 'def':
      return null
    case 'code':
      return <pre>{renderText(token.text)}</pre>
    case 'table':
      return <Table table={token as Tokens.Table} renderText={renderText} />
    case 'list':
      return <List list={token as Tokens.List} renderText={renderText} />
    case 'blockquote':
      return <blockquote>{showBlocks(token.tokens, renderText)}</blockquote>
    case 'heading':
      return (
        <p class="heading">
          <Inline token={token} renderText={renderText} />
        </p>
      )
    default:
      return (
        <p class="long-line">
          <Inline token={token} renderText={renderText} />
        </p>
      )
  }
}

const showBlocks = (tokens: readonly Token[] | undefined, renderText: MarkdownProps['renderText']) =>
  (tokens ?? []).map((token, index) => <Block key={index} token={token} renderText={renderText} />)

function Inline({ token, renderText }: TokenProps) {
  const innerTokens = 'tokens' in token ? token.tokens : undefined
  if (innerTokens !== undefined)
    return (
      <>
        {innerTokens.map((innerToken, index) => (
          <InlineElement key={index} token={innerToken} renderText={renderText} />
        ))}
      </>
    )
  return <>{renderText('text' in token ? token.text : token.raw)}</>
}

function InlineElement({ token, renderText }: TokenProps) {
  if (token.type === 'html' && isInvisibleHtml(token.raw)) return null
  const content = <Inline token={token} renderText={renderText} />
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

function List({ list, renderText }: { list: Tokens.List } & Pick<MarkdownProps, 'renderText'>) {
  const items = list.items.map((item, index) => <li key={index}>{showBlocks(item.tokens, renderText)}</li>)
  return list.ordered ? <ol start={Number(list.start) || 1}>{items}</ol> : <ul>{items}</ul>
}

function Table({ table, renderText }: { table: Tokens.Table } & Pick<MarkdownProps, 'renderText'>) {
  const showRow = (cells: readonly Tokens.TableCell[], Cell: 'td' | 'th') =>
    cells.map((cell, index) => (
      <Cell key={index}>
        <Inline
          token={{ type: 'text', raw: cell.text, text: cell.text, tokens: cell.tokens }}
          renderText={renderText}
        />
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
