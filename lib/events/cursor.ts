import { ServiceError } from '#lib/errors.ts'

/** A place in the event log: events with a greater number come after it. */
export interface Cursor {
  /** Which log: a store that was restored from a copy has another one. */
  readonly epoch: string
  readonly seq: number
}

export const cursorText = ({ epoch, seq }: Cursor): string => `${epoch}-${seq}`

/** Reads what `cursorText` wrote. Throws `invalid`. */
export const readCursor = (text: string): Cursor => {
  const [, epoch = '', seq = ''] = /^([0-9a-f]{8})-(\d{1,15})$/.exec(text) ?? []
  if (epoch === '')
    throw new ServiceError('invalid', 'since is not a cursor; give the cursor of the last event that you have.')
  return { epoch, seq: Number(seq) }
}
