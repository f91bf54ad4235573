import type { Comparison } from '../../../data/replay.ts'
import { formatCount, formatNumber } from '../../../domain/text.ts'

export function DivergenceTable({
  comparison,
  show,
}: {
  comparison: Comparison
  show: (frame: number) => void
}) {
  const { divergences, parameters, only_a, only_b, renamed_bodies, compared_frames } = comparison
  return (
    <section class="stack" aria-labelledby="differences-title">
      <h2 id="differences-title">
        Differences <span class="muted">in {formatCount(compared_frames)} frames</span>
      </h2>
      {divergences.length > 0 && (
        <div class="card scroll">
          <table>
            <thead>
              <tr>
                <th>Field</th>
                <th>Body</th>
                <th>First in frame</th>
                <th class="number">Left</th>
                <th class="number">Right</th>
                <th>Largest in frame</th>
                <th class="number">Largest</th>
                <th class="number">Frames</th>
              </tr>
            </thead>
            <tbody>
              {divergences.map((divergence) => (
                <tr key={`${divergence.field} ${divergence.body_id}`}>
                  <td>
                    {divergence.field.replaceAll('_', ' ')} <span class="muted">{divergence.unit}</span>
                  </td>
                  <td>{divergence.body_id ?? '–'}</td>
                  <td>
                    <FrameButton frame={divergence.first_frame_a} show={show} />
                  </td>
                  <td class="number">{formatValue(divergence.value_a)}</td>
                  <td class="number">{formatValue(divergence.value_b)}</td>
                  <td>
                    <FrameButton frame={divergence.greatest_frame_a} show={show} />
                  </td>
                  <td class="number">{formatNumber(divergence.greatest)}</td>
                  <td class="number">{formatCount(divergence.frames_over)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      <ul class="stack">
        {parameters.map(({ body_id, parameter, a, b }) => (
          <li key={`${body_id} ${parameter}`}>
            The {parameter} of body {body_id} is {a ?? 'not recorded'} on the left and {b ?? 'not recorded'}{' '}
            on the right.
          </li>
        ))}
        {renamed_bodies.map(({ a, b, by }) => (
          <li key={a}>
            Body {a} of the left recording is compared with body {b} of the right one, by its {by}.
          </li>
        ))}
        {only_a.length > 0 && <li>Only the left recording has: body {only_a.join(', ')}.</li>}
        {only_b.length > 0 && <li>Only the right recording has: body {only_b.join(', ')}.</li>}
      </ul>
    </section>
  )
}

const FrameButton = ({ frame, show }: { frame: number; show: (frame: number) => void }) => (
  <button type="button" class="body-name" onClick={() => show(frame)} aria-label={`Show frame ${frame}`}>
    {frame}
  </button>
)

const formatValue = (value: number | string): string =>
  typeof value === 'number' ? formatNumber(value) : value.slice(0, 60) || 'none'
