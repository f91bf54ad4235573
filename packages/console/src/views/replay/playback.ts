import { computed, signal } from '@preact/signals'

/** Rates relative to the recorded time. */
export const rates = [0.1, 0.25, 0.5, 1, 2, 4] as const

/** Time without a change after which a frame is shown in detail, in ms. */
const restMs = 80

/** The frame that all parts of the viewer show. Frames are ids as recorded. */
export class Playback {
  readonly first: number
  readonly last: number
  readonly frame = signal(0)
  /** The frame of the parts that need a request: it follows `frame` when that rests. */
  readonly restingFrame = signal(0)
  readonly isPlaying = signal(false)
  readonly rate = signal<number>(1)
  readonly share = computed(() => (this.frame.value - this.first) / Math.max(1, this.last - this.first))
  readonly #step: number
  #position = 0
  #lastTick = 0
  #timer: ReturnType<typeof setTimeout> | undefined
  #request = 0

  /** `stepS` is the time between frames in s. */
  constructor({ first, last, stepS }: { first: number; last: number; stepS: number }) {
    this.first = first
    this.last = last
    this.#step = stepS
    this.frame.value = first
    this.restingFrame.value = first
  }

  /** Shows a frame; the nearest one if it does not exist. */
  seek(frame: number): void {
    const next = Math.min(this.last, Math.max(this.first, Math.round(frame)))
    this.#position = next
    this.frame.value = next
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => this.#rest(), restMs)
  }

  /** Starts or stops. At the end, it starts from the first frame. */
  toggle(): void {
    if (this.isPlaying.value) this.pause()
    else this.#play()
  }

  #play(): void {
    if (this.frame.value >= this.last) this.seek(this.first)
    this.#position = this.frame.value
    this.#lastTick = performance.now()
    this.isPlaying.value = true
    this.#request = requestAnimationFrame((now) => this.#tick(now))
  }

  pause(): void {
    cancelAnimationFrame(this.#request)
    this.isPlaying.value = false
    this.#rest()
  }

  close(): void {
    cancelAnimationFrame(this.#request)
    clearTimeout(this.#timer)
  }

  #rest(): void {
    if (!this.isPlaying.value) this.restingFrame.value = this.frame.value
  }

  #tick(now: number): void {
    // The first tick may be dated before the start.
    this.#position += (Math.max(0, now - this.#lastTick) / 1000 / this.#step) * this.rate.value
    this.#lastTick = now
    this.frame.value = Math.min(this.last, Math.floor(this.#position))
    if (this.frame.value >= this.last) this.pause()
    else this.#request = requestAnimationFrame((next) => this.#tick(next))
  }
}
