declare module '@novnc/novnc' {
  /** The members of noVNC's viewer that the console uses. */
  export default class RFB extends EventTarget {
    constructor(target: HTMLElement, url: string, options?: { readonly wsProtocols?: readonly string[] })
    /** Whether the picture is scaled to the size of the target. */
    scaleViewport: boolean
    focus(): void
    blur(): void
    disconnect(): void
  }
}
