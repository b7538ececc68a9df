/** Files in the recorder's folder. */
export const recorderFiles = {
  pid: 'pid',
  socket: 'socket',
  /** Its error output. */
  log: 'recorder.log',
} as const
