/**
 * The colours of every page, light and dark by the reader's preference. Data colours are Okabe and Ito's, which
 * colour-blind readers can tell apart; text on every background has a contrast of at least 4.5 to 1, marks of 3 to 1.
 */

export const LIGHT = `
  --page: #f5f6f8; --surface: #ffffff; --ink: #17212b; --muted: #515c68; --line: #9aa5b1; --rule: #dde2e8;
  --grid: #e8ebef;
  --link: #00588a; --observed: #0072b2; --predicted: #c65200; --chance: #cfd6de; --unfollowed: #eff1f4;
  --agree: #00543e; --agree-ground: #dff2ea; --agree-mark: #00785a;
  --off: #8f2f00; --off-ground: #fde6d8; --off-mark: #c65200; --unsure-mark: #8a6100;
  --unsure: #614300; --unsure-ground: #fbf0cd; --few: #47525d; --few-ground: #e9ecf0;
  --series-1: #0072b2; --series-2: #00785a; --series-3: #c65200; --series-4: #9c3f74;`;

const DARK = `
  --page: #0e1318; --surface: #161d25; --ink: #e9eef3; --muted: #a9b5c1; --line: #66727f; --rule: #2c3641;
  --grid: #26303a;
  --link: #86c9f7; --observed: #56b4e9; --predicted: #f2a33a; --chance: #3d4a57; --unfollowed: #1d262f;
  --agree: #86e0be; --agree-ground: #11352a; --agree-mark: #35c49a;
  --off: #ffbd96; --off-ground: #45210c; --off-mark: #ff8a4c; --unsure-mark: #f3d787;
  --unsure: #f3d787; --unsure-ground: #3a2f0d; --few: #c0cad4; --few-ground: #28323c;
  --series-1: #56b4e9; --series-2: #35c49a; --series-3: #f2a33a; --series-4: #e59cc4;`;

/** As rules of a style sheet. */
export const PALETTE_RULES: string = `:root { color-scheme: light dark; ${LIGHT} }
@media (prefers-color-scheme: dark) { :root { ${DARK} } }`;
