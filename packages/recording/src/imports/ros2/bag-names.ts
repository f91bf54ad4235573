/** Whether an MCAP file declares the ROS 2 profile (https://mcap.dev/spec#header-op0x01). */
export const isRosMcap = (head: Uint8Array): boolean =>
  Buffer.from(head.subarray(0, 25)).toString('latin1').slice(17) === '\x04\0\0\0ros2'

export const bagMetadata = 'metadata.yaml'

export const isBagPart = (name: string): boolean => /\.(mcap|db3)$/i.test(name)
