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

/** Returns whether copying succeeded. Browsers offer `navigator.clipboard` only on localhost and over HTTPS. */
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
