/**
 * A request to the recorder is one line: the id of a machine, a blank, and one of these. The recorder records the machine, then sends
 * its reply.
 */
export const recorderCommands = {
  /** Nothing else; the recorder closes the connection. */
  record: 'record',
  /** The client sends input for the guest after the reply, until one side closes the connection. */
  input: 'input',
} as const

export type RecorderCommand = keyof typeof recorderCommands

export const recorderReply = 'recorded\n'
