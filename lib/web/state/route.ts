import { createStore } from './store.ts'

/** The page that the address names: the parts of its fragment. */
export interface PageRoute {
  readonly parts: readonly string[]
}

const readRoute = (): PageRoute => ({
  parts: location.hash
    .replace(/^#\/?/, '')
    .split('/')
    .map(part => {
      try {
        return decodeURIComponent(part)
      } catch {
        return part
      }
    }),
})

/** The present page. */
export const route = createStore(readRoute())

addEventListener('hashchange', () => route.set(readRoute()))

/** The address of a page. */
export const linkTo = (...parts: readonly string[]): string => `#/${parts.map(encodeURIComponent).join('/')}`

export const goTo = (...parts: readonly string[]): void => {
  location.hash = linkTo(...parts)
}
