import { useState } from 'preact/hooks'
import './value-tree.css'

const pageSize = 50

const maxOpenSize = 12

/** A JSON value with collapsible objects and arrays. Strings are never interpreted. */
export function ValueTree({ value, name, depth = 0 }: { value: unknown; name?: string; depth?: number }) {
  const [limit, setLimit] = useState(pageSize)
  const label = name === undefined ? null : <span class="tree-name">{name}</span>
  if (value === null || typeof value !== 'object')
    return (
      <div class="tree-leaf">
        {label} <Leaf value={value} />
      </div>
    )
  const entries = Object.entries(value)
  const isList = Array.isArray(value)
  if (entries.length === 0)
    return (
      <div class="tree-leaf">
        {label} <span class="muted">{isList ? 'empty list' : 'empty object'}</span>
      </div>
    )
  return (
    <details class="tree" open={depth < 1 || (depth < 3 && entries.length <= maxOpenSize)}>
      <summary>
        {label} <span class="muted">{isList ? `list of ${entries.length}` : `${entries.length} fields`}</span>
      </summary>
      {entries.slice(0, limit).map(([key, entry]) => (
        <ValueTree key={key} name={key} value={entry} depth={depth + 1} />
      ))}
      {entries.length > limit && (
        <button type="button" class="button" onClick={() => setLimit(limit + 10 * pageSize)}>
          Show more of {entries.length}
        </button>
      )}
    </details>
  )
}

const Leaf = ({ value }: { value: unknown }) =>
  typeof value === 'string' ? (
    <span class="tree-text">{value === '' ? '(empty text)' : value}</span>
  ) : (
    <span class="tree-value">{String(value)}</span>
  )
