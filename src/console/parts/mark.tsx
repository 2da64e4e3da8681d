/** The logo: the hold times of four keys. */
export const Mark = () => (
  <svg viewBox="0 0 32 32" width="28" height="28" aria-hidden="true" class="mark">
    <rect x="3" y="11" width="5" height="10" rx="2.5" />
    <rect x="10" y="5" width="5" height="22" rx="2.5" />
    <rect x="17" y="9" width="5" height="14" rx="2.5" />
    <rect x="24" y="13" width="5" height="6" rx="2.5" />
  </svg>
)
