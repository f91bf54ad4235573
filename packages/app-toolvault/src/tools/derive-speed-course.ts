import { createComposite, showText, updateFeatures } from '@causeway/plot'
import { defineTool } from '../catalog/vault-tool.ts'
import { roundTo } from '../domain/table.ts'
import { deriveMotion } from '../domain/track/motion.ts'
import { createFeaturesArgument, injectSelectedTracks, requireTracks } from './arguments.ts'

export default defineTool({
  name: 'derive_speed_course',
  category: 'track-analysis',
  title: 'Derive speeds and courses',
  about:
    'Derive speeds (knots) and courses (degrees) of tracks from positions and times. Returns tracks in which they replace recorded ones. Use it for the speed of a ship over time when none was recorded, or it does not match the positions; no tool draws it.',
  searchHint: 'heading, velocity from positions',
  input: { tracks: createFeaturesArgument('Tracks') },
  inject: { tracks: injectSelectedTracks() },
  run({ tracks }) {
    const parsedTracks = requireTracks(tracks)
    const updatedFeatures = parsedTracks.map((track) => {
      const motions = track.times.map((time) => deriveMotion(track, time))
      return {
        ...track.feature,
        properties: {
          ...track.feature.properties,
          speeds: motions.map(({ speed_kn }) => roundTo(speed_kn, 4)),
          courses: motions.map(({ course_deg }) => roundTo(course_deg, 3)),
        },
      }
    })
    const names = parsedTracks.map(({ name }) => name).join(', ')
    return createComposite([
      updateFeatures(updatedFeatures),
      showText(`Derived speeds and courses of ${names}.`),
    ])
  },
})
