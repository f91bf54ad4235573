import { describe, expect, it } from 'vitest'

describe('sums', () => {
  it('adds', () => expect(1 + 1).toBe(2))
  it('fails', () => expect(1 + 1).toBe(3))
  it.skip('skipped', () => {})
  it.todo('later')
})
