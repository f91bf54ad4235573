import { useState } from 'preact/hooks'
import { Icon } from './icon.tsx'

export function CopyButton({ label, text }: { label: string; text: () => string }) {
  const [outcome, setOutcome] = useState<string>()
  const copy = async (): Promise<void> => {
    setOutcome((await copyText(text())) ? 'Copied' : 'Not copied')
    setTimeout(() => setOutcome(undefined), 1500)
  }
  return (
    <button type="button" class="button" onClick={() => void copy()}>
      <Icon name="copy" />
      {outcome ?? label}
    </button>
  )
}

/**
 * Copies a text and returns whether that succeeded. Browsers provide the clipboard only to pages of localhost or
 * HTTPS; in other pages, a selected text is copied.
 */
export async function copyText(text: string): Promise<boolean> {
  if (navigator.clipboard !== undefined)
    return navigator.clipboard.writeText(text).then(
      () => true,
      () => false,
    )
  const area = document.createElement('textarea')
  area.value = text
  document.body.append(area)
  area.select()
  const isCopied = document.execCommand('copy')
  area.remove()
  return isCopied
}
