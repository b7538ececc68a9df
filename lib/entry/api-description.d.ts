declare module '*/api-description.json' {
  /** The text of the file: the platform is told to bundle it as a text. */
  const text: string
  export default text
}

declare module '*/web-console.json' {
  /** As above. */
  const text: string
  export default text
}
