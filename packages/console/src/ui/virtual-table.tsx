import type { ComponentChildren } from 'preact'
import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import './virtual-table.css'

/** Height of a row in px. */
const rowHeight = 28
const margin = 8

interface VirtualTableProps<Row> {
  readonly label: string
  readonly head: ComponentChildren
  readonly rows: readonly Row[]
  readonly cells: (row: Row) => ComponentChildren
  readonly rowClass?: (row: Row) => string
  /** Called when the first row is scrolled into view or out of it. */
  readonly onTop?: (isAtTop: boolean) => void
}

/** Renders only the visible rows. Keys are row positions, so that elements are reused. */
export function VirtualTable<Row>({ label, head, rows, cells, rowClass, onTop }: VirtualTableProps<Row>) {
  const box = useRef<HTMLElement>(null)
  const [view, setView] = useState({ first: 0, count: 40 })
  const measure = (): void => {
    if (box.current === null) return
    const { scrollTop, clientHeight } = box.current
    const first = Math.max(0, Math.floor(scrollTop / rowHeight) - margin)
    const count = Math.ceil(clientHeight / rowHeight) + 2 * margin
    setView((oldView) => (oldView.first === first && oldView.count === count ? oldView : { first, count }))
    onTop?.(scrollTop < rowHeight)
  }
  useLayoutEffect(measure, [])
  const first = Math.min(view.first, Math.max(0, rows.length - view.count))
  const visibleRows = rows.slice(first, first + view.count)
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard scrolls it
    <section class="virtual" ref={box} aria-label={label} tabIndex={0} onScroll={measure}>
      <table>
        <thead>{head}</thead>
        <tbody>
          <Spacer rows={first} />
          {visibleRows.map((row, rowIndex) => (
            <tr key={rowIndex} class={rowClass?.(row) ?? ''}>
              {cells(row)}
            </tr>
          ))}
          <Spacer rows={rows.length - first - visibleRows.length} />
        </tbody>
      </table>
    </section>
  )
}

/** Space for rows that are not rendered. A `colSpan` would create hidden columns. */
const Spacer = ({ rows }: { rows: number }) => (
  <tr class="spacer" style={{ height: `${rows * rowHeight}px` }}>
    <td />
  </tr>
)
