import { useEffect, useState } from 'preact/hooks'

/** Calls `onChange` only with valid JSON. An empty text means no value. */
export function JsonInput({
  value,
  onChange,
  label,
  id,
  rows = 4,
  placeholder = '',
  onValidity,
}: {
  value: unknown
  onChange: (value: unknown) => void
  label: string
  id?: string
  rows?: number
  placeholder?: string
  onValidity?: (isValid: boolean) => void
}) {
  const [text, setText] = useState(() => format(value))
  const [problem, setProblem] = useState('')
  useEffect(() => {
    if (!isSame(text, value)) setText(format(value))
  }, [value])
  const edit = (next: string): void => {
    setText(next)
    const parseResult = parse(next)
    setProblem(parseResult.problem)
    onValidity?.(parseResult.problem === '')
    if (parseResult.problem === '') onChange(parseResult.value)
  }
  return (
    <>
      <textarea
        id={id}
        rows={rows}
        spellcheck={false}
        value={text}
        placeholder={placeholder}
        aria-invalid={problem !== ''}
        {...(id === undefined ? { 'aria-label': `${label} as JSON` } : {})}
        onInput={(event) => edit(event.currentTarget.value)}
      />
      {problem !== '' && <p role="alert">{problem}</p>}
    </>
  )
}

const format = (value: unknown): string => (value === undefined ? '' : JSON.stringify(value, null, 2))

function parse(text: string): { readonly value?: unknown; readonly problem: string } {
  if (text.trim() === '') return { value: undefined, problem: '' }
  try {
    return { value: JSON.parse(text), problem: '' }
  } catch (error) {
    return { problem: `Not JSON: ${(error as Error).message}` }
  }
}

function isSame(text: string, value: unknown): boolean {
  const parseResult = parse(text)
  return parseResult.problem === '' && JSON.stringify(parseResult.value) === JSON.stringify(value)
}
