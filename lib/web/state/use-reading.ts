import { useEffect, useState } from 'preact/hooks'
import { messageOf } from '../parts/text.ts'

interface Reading<T> {
  /** Undefined until it is read. */
  readonly value: T | undefined
  readonly problem: string | undefined
}

/** What the service says when the page is opened, of things without events. Without a function nothing is asked. */
export const useReading = <T>(read: (() => Promise<T>) | undefined): Reading<T> => {
  const [reading, setReading] = useState<Reading<T>>({ value: undefined, problem: undefined })
  useEffect(() => {
    let isClosed = false
    read?.().then(
      value => isClosed || setReading({ value, problem: undefined }),
      error => isClosed || setReading({ value: undefined, problem: messageOf(error) }),
    )
    return () => void (isClosed = true)
  }, [])
  return reading
}
