import { useState } from 'preact/hooks'
import { Icon } from './icon.tsx'

/** Copies a text and confirms it for a moment. */
export function CopyButton({ label, text }: { label: string; text: () => string }) {
  const [isCopied, setCopied] = useState(false)
  const copy = async (): Promise<void> => {
    await copyText(text())
    setCopied(true)
    setTimeout(() => setCopied(false), 1500)
  }
  return (
    <button type="button" class="button" onClick={() => void copy()}>
      <Icon name="copy" />
      {isCopied ? 'Copied' : label}
    </button>
  )
}

/** Browsers have a clipboard only in pages of this machine or of HTTPS; in others, a selected text is copied. */
export async function copyText(text: string): Promise<void> {
  if (navigator.clipboard !== undefined) return navigator.clipboard.writeText(text)
  const area = document.createElement('textarea')
  area.value = text
  document.body.append(area)
  area.select()
  document.execCommand('copy')
  area.remove()
}
