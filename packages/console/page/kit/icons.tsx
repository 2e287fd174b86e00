// Line icons, 24 × 24, drawn for the console.
const PATHS = {
  servers: "M4 5h16v5H4zM4 14h16v5H4zM8 7.5h.01M8 16.5h.01",
  traffic: "M3 12h4l3-8 4 16 3-8h4",
  tools: "M14.5 6.5a4 4 0 0 0 5 5L12 19a2.5 2.5 0 0 1-4-4zM14.5 6.5l3-3",
  questions: "M9 9.5a3 3 0 1 1 4.5 2.6c-1 .6-1.5 1.2-1.5 2.4M12 18h.01M12 3a9 9 0 1 1 0 18 9 9 0 0 1 0-18z",
  store:
    "M4 6c0-1.7 3.6-3 8-3s8 1.3 8 3-3.6 3-8 3-8-1.3-8-3zM4 6v12c0 1.7 3.6 3 8 3s8-1.3 8-3V6M4 12c0 1.7 3.6 3 8 3s8-1.3 8-3",
  graph:
    "M6 6h.01M18 8h.01M8 18h.01M17 17h.01M6 6l12 2M6 6l2 12M18 8l-10 10M8 18l9-1M4.5 6a1.5 1.5 0 1 0 3 0 1.5 1.5 0 0 0-3 0zM16.5 8a1.5 1.5 0 1 0 3 0 1.5 1.5 0 0 0-3 0zM6.5 18a1.5 1.5 0 1 0 3 0 1.5 1.5 0 0 0-3 0zM15.5 17a1.5 1.5 0 1 0 3 0 1.5 1.5 0 0 0-3 0z",
  settings: "M4 7h10M18 7h2M4 17h2M10 17h10M14 7a2 2 0 1 0 4 0 2 2 0 0 0-4 0zM6 17a2 2 0 1 0 4 0 2 2 0 0 0-4 0z",
  search: "M11 4a7 7 0 1 1 0 14 7 7 0 0 1 0-14zM16.5 16.5 21 21",
  close: "M6 6l12 12M18 6 6 18",
  check: "M5 13l4.5 4.5L19 7",
  copy: "M9 9h11v11H9zM5 15H4V4h11v1",
  plus: "M12 5v14M5 12h14",
  play: "M8 5l11 7-11 7z",
  pause: "M8 5v14M16 5v14",
  restart: "M4 12a8 8 0 1 0 2.5-5.8M4 4v4.5h4.5",
  stop: "M6 6h12v12H6z",
  file: "M6 3h8l4 4v14H6zM14 3v4h4",
  folder: "M3 6h6l2 2h10v11H3z",
  link: "M10 14a4 4 0 0 0 6 .4l3-3a4 4 0 0 0-5.7-5.7l-1 1M14 10a4 4 0 0 0-6-.4l-3 3A4 4 0 0 0 10.700 18.300l1-1",
  shield: "M12 3l8 3v6c0 4.500-3.400 7.800-8 9-4.600-1.200-8-4.500-8-9V6z",
  key: "M14 10a4 4 0 1 0-2.600 3.700L13 15.500h2v2h2v2h3v-3l-5.300-5.300",
  sun: "M12 8a4 4 0 1 1 0 8 4 4 0 0 1 0-8zM12 2v2M12 20v2M2 12h2M20 12h2M5 5l1.500 1.500M17.500 17.500 19 19M19 5l-1.500 1.500M6.500 17.500 5 19",
  moon: "M20 14.500A8.500 8.500 0 0 1 9.500 4 8.500 8.500 0 1 0 20 14.500z",
  broken: "M12 4l9 16H3zM12 10v4M12 17h.01",
  history: "M4 12a8 8 0 1 0 2.500-5.800M4 4v4.500h4.500M12 8v4l3 2",
  pin: "M9 3h6l-1 7 3 3H7l3-3zM12 13v8",
  trash: "M5 7h14M10 7V4h4v3M7 7l1 13h8l1-13",
} as const;

export type IconName = keyof typeof PATHS;

export function Icon({ name, size = 16 }: { readonly name: IconName; readonly size?: number }) {
  return (
    <svg
      width={size}
      height={size}
      viewBox="0 0 24 24"
      fill="none"
      stroke="currentColor"
      stroke-width="1.75"
      stroke-linecap="round"
      stroke-linejoin="round"
      aria-hidden="true"
    >
      <path d={PATHS[name]} />
    </svg>
  );
}
