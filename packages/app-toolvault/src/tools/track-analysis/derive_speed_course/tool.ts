import { featuresArgument, selectedTracks, timedTracks } from '../../../arguments.ts'
import { composite, showText, updateFeatures } from '../../../domain/command.ts'
import { motionAt } from '../../../domain/motion.ts'
import { rounded } from '../../../domain/table.ts'
import { vaultTool } from '../../../vault-tool.ts'
import { samples } from './samples.ts'

/** derive_speed_course: of the leg that begins at a fix, of the last leg for the last fix; not smoothed. */
export default vaultTool({
  name: 'derive_speed_course',
  category: 'track-analysis',
  about:
    'Writes properties.speeds (knots) and courses (degrees) of tracks, derived from positions and times, over what was recorded.',
  input: { tracks: featuresArgument('tracks') },
  inject: { tracks: selectedTracks() },
  samples,
  run({ tracks }) {
    const all = timedTracks(tracks)
    const updated = all.map((track) => {
      const motions = track.times.map((time) => motionAt(track, time))
      return {
        ...track.feature,
        properties: {
          ...track.feature.properties,
          speeds: motions.map(({ speed_kn }) => rounded(speed_kn, 4)),
          courses: motions.map(({ course_deg }) => rounded(course_deg, 3)),
        },
      }
    })
    const names = all.map(({ name }) => name).join(', ')
    return composite([updateFeatures(updated), showText(`Speeds and courses of ${names} are derived now.`)])
  },
})
