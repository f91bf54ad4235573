import { useEffect, useRef, useState } from 'preact/hooks'
import type { PlotConnection } from '../../data/plot-link.ts'
import type { PlotTime } from '../../domain/plot.ts'
import { useShortcuts } from '../../ui/console.ts'
import { Icon } from '../../ui/icon.tsx'

const rates = [
  [60, '1 min/s'],
  [600, '10 min/s'],
  [3600, '1 h/s'],
] as const

/** The time that a page shows. During dragging or playing, it differs from the time of the plot. */
export interface Clock {
  /** Unix milliseconds. `undefined` if the plot has no times. */
  readonly ms: number | undefined
  readonly isPlaying: boolean
  readonly rate: number
  readonly setRate: (rate: number) => void
  /** Shows a time without changing the plot. */
  readonly preview: (ms: number) => void
  readonly commit: () => void
  readonly toggle: () => void
}

export function useClock(link: PlotConnection, time: PlotTime | null): Clock {
  const [localTime, setLocalTime] = useState<number>()
  const [isPlaying, setPlaying] = useState(false)
  const [rate, setRate] = useState<number>(rates[1][0])
  const storedMs = time === null ? undefined : Date.parse(time.current)
  const end = time === null ? 0 : Date.parse(time.end)
  const ms = localTime ?? storedMs
  const shownMs = useRef(ms)
  shownMs.current = ms
  useEffect(() => setLocalTime(undefined), [storedMs])
  const commit = (): void => {
    const { current } = shownMs
    if (current !== undefined && current !== storedMs) void link.setTime(formatIso(current))
  }
  useEffect(() => {
    if (!isPlaying) return
    let before = performance.now()
    let frame = requestAnimationFrame(function step(now) {
      const next = Math.min(end, (shownMs.current ?? end) + (now - before) * rate)
      before = now
      setLocalTime(next)
      if (next >= end) setPlaying(false)
      else frame = requestAnimationFrame(step)
    })
    return () => {
      cancelAnimationFrame(frame)
      commit()
    }
  }, [isPlaying, rate, end])
  const toggle = (): void => setPlaying((isOn) => !isOn && shownMs.current !== undefined)
  return { ms, isPlaying, rate, setRate, preview: setLocalTime, commit, toggle }
}

const formatIso = (ms: number): string => new Date(Math.round(ms)).toISOString().replace(/\.000Z$/, 'Z')

export function TimeBar({ clock, time }: { clock: Clock; time: PlotTime }) {
  const { ms = 0, isPlaying, rate, setRate, preview, commit, toggle } = clock
  const [start, end] = [Date.parse(time.start), Date.parse(time.end)]
  const latest = useRef(toggle)
  latest.current = toggle
  useShortcuts(() => [{ keys: 'Space', label: 'Play or pause', run: () => latest.current() }])
  return (
    <div class="card time-bar">
      <button type="button" class="button primary" onClick={toggle} disabled={end <= start}>
        <Icon name={isPlaying ? 'pause' : 'play'} />
        {isPlaying ? 'Pause' : 'Play'}
      </button>
      <div class="time-slider">
        <input
          type="range"
          aria-label="Time"
          aria-valuetext={formatStamp(ms)}
          min={start}
          max={end}
          step={Math.max(1, Math.round((end - start) / 1000))}
          value={ms}
          onInput={(event) => preview(event.currentTarget.valueAsNumber)}
          onChange={commit}
        />
        <div class="time-ends muted">
          <span>{formatStamp(start)}</span>
          <strong class="time-now">{formatStamp(ms)}</strong>
          <span>{formatStamp(end)}</span>
        </div>
      </div>
      <select
        aria-label="Speed"
        value={rate}
        onChange={(event) => setRate(Number(event.currentTarget.value))}
      >
        {rates.map(([seconds, label]) => (
          <option key={label} value={seconds}>
            {label}
          </option>
        ))}
      </select>
    </div>
  )
}

const dateFormat = new Intl.DateTimeFormat('en-GB', {
  day: 'numeric',
  month: 'short',
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  timeZone: 'UTC',
})

/** Formats a time in UTC: `14 Nov, 23:30:00 Z`. */
const formatStamp = (ms: number): string => (Number.isFinite(ms) ? `${dateFormat.format(ms)} Z` : '')
