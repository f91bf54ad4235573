import { formatCount, truncateText } from '../domain/text.ts'

/** Text of clients, models and files, truncated. It does not affect the direction of the text around it. */
export const ForeignText = ({ text, max = 200 }: { text: string; max?: number }) => (
  <>
    <bdi>{truncateText(text, max)}</bdi>
    {text.length > max && <span class="muted"> {formatCount(text.length)} characters</span>}
  </>
)

/** The description of a tool. Names between backticks are shown as code. */
export const DescriptionText = ({ text, max }: { text: string; max: number }) => (
  <bdi>
    {truncateText(text, max)
      .split('`')
      .map((part, index) => (index % 2 === 1 ? <code key={index}>{part}</code> : part))}
  </bdi>
)
