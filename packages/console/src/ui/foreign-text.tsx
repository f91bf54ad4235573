import { cutText, formatCount } from '../domain/text.ts'

/** Text of clients, models and files: it does not change the direction of the text around it, and is cut if it is long. */
export const ForeignText = ({ text, max = 200 }: { text: string; max?: number }) => (
  <>
    <bdi>{cutText(text, max)}</bdi>
    {text.length > max && <span class="muted"> {formatCount(text.length)} characters</span>}
  </>
)
