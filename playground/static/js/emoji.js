// Emoji by Slack's short names: the ones people and apps use every day, not the whole catalogue. An unknown name stays as `:name:`.

const TABLE = `
smile 😄|smiley 😃|grinning 😀|grin 😁|laughing 😆|joy 😂|rofl 🤣|slightly_smiling_face 🙂|wink 😉|blush 😊|innocent 😇|heart_eyes 😍
kissing_heart 😘|yum 😋|stuck_out_tongue 😛|zany_face 🤪|hugging_face 🤗|thinking_face 🤔|face_with_raised_eyebrow 🤨|neutral_face 😐
expressionless 😑|smirk 😏|unamused 😒|face_with_rolling_eyes 🙄|grimacing 😬|relieved 😌|pensive 😔|sleepy 😪|sleeping 😴|mask 😷
dizzy_face 😵|exploding_head 🤯|partying_face 🥳|sunglasses 😎|nerd_face 🤓|confused 😕|worried 😟|slightly_frowning_face 🙁|open_mouth 😮
astonished 😲|flushed 😳|pleading_face 🥺|cry 😢|sob 😭|scream 😱|sweat 😓|sweat_smile 😅|tired_face 😫|triumph 😤|angry 😠|rage 😡|skull 💀
clown_face 🤡|ghost 👻|robot_face 🤖|see_no_evil 🙈|hear_no_evil 🙉|speak_no_evil 🙊|+1 👍|thumbsup 👍|-1 👎|thumbsdown 👎|ok_hand 👌|v ✌️
crossed_fingers 🤞|point_up ☝️|point_down 👇|point_left 👈|point_right 👉|point_up_2 👆|raised_hand ✋|wave 👋|clap 👏|raised_hands 🙌
open_hands 👐|pray 🙏|handshake 🤝|muscle 💪|writing_hand ✍️|fist ✊|facepunch 👊|brain 🧠|eyes 👀|eye 👁️|speech_balloon 💬
thought_balloon 💭|heart ❤️|orange_heart 🧡|yellow_heart 💛|green_heart 💚|blue_heart 💙|purple_heart 💜|black_heart 🖤|broken_heart 💔
sparkling_heart 💖|100 💯|boom 💥|dizzy 💫|sweat_drops 💦|zzz 💤|white_check_mark ✅|heavy_check_mark ✔️|ballot_box_with_check ☑️|x ❌
negative_squared_cross_mark ❎|warning ⚠️|no_entry ⛔|no_entry_sign 🚫|question ❓|grey_question ❔|exclamation ❗|bangbang ‼️
information_source ℹ️|rotating_light 🚨|octagonal_sign 🛑|construction 🚧|recycle ♻️|new 🆕|ok 🆗|sos 🆘|up 🆙|cool 🆒|free 🆓|red_circle 🔴
large_orange_circle 🟠|large_yellow_circle 🟡|large_green_circle 🟢|large_blue_circle 🔵|large_purple_circle 🟣|white_circle ⚪
black_circle ⚫|large_orange_diamond 🔶|small_blue_diamond 🔹|large_blue_diamond 🔷|arrow_right ➡️|arrow_left ⬅️|arrow_up ⬆️
arrow_down ⬇️|arrows_counterclockwise 🔄|repeat 🔁|fast_forward ⏩|heavy_plus_sign ➕|heavy_minus_sign ➖|rocket 🚀|tada 🎉
confetti_ball 🎊|balloon 🎈|gift 🎁|trophy 🏆|medal 🏅|first_place_medal 🥇|dart 🎯|sparkles ✨|star ⭐|star2 🌟|fire 🔥|zap ⚡|sunny ☀️
cloud ☁️|rainbow 🌈|snowflake ❄️|umbrella ☔|bulb 💡|mag 🔍|mag_right 🔎|key 🔑|lock 🔒|unlock 🔓|closed_lock_with_key 🔐|shield 🛡️|link 🔗
paperclip 📎|pushpin 📌|round_pushpin 📍|bell 🔔|no_bell 🔕|mega 📣|loudspeaker 📢|hourglass ⌛|hourglass_flowing_sand ⏳|watch ⌚
alarm_clock ⏰|stopwatch ⏱️|clock1 🕐|clock3 🕒|clock9 🕘|calendar 📆|date 📅|spiral_calendar_pad 🗓️|memo 📝|pencil ✏️|pencil2 ✏️
clipboard 📋|page_facing_up 📄|page_with_curl 📃|bookmark_tabs 📑|bar_chart 📊|chart_with_upwards_trend 📈|chart_with_downwards_trend 📉
card_index 📇|file_folder 📁|open_file_folder 📂|books 📚|book 📖|notebook 📓|bookmark 🔖|label 🏷️|newspaper 📰|email 📧|envelope ✉️
incoming_envelope 📨|inbox_tray 📥|outbox_tray 📤|package 📦|mailbox 📫|phone ☎️|telephone_receiver 📞|iphone 📱|computer 💻
desktop_computer 🖥️|keyboard ⌨️|printer 🖨️|floppy_disk 💾|cd 💿|electric_plug 🔌|battery 🔋|satellite 🛰️|gear ⚙️|wrench 🔧|hammer 🔨
hammer_and_wrench 🛠️|nut_and_bolt 🔩|broom 🧹|wastebasket 🗑️|bug 🐛|test_tube 🧪|microscope 🔬|abacus 🧮|scales ⚖️|money_with_wings 💸
moneybag 💰|dollar 💵|yen 💴|euro 💶|credit_card 💳|receipt 🧾|shopping_trolley 🛒|ticket 🎫|house 🏠|office 🏢|hospital 🏥|bank 🏦|hotel 🏨
factory 🏭|truck 🚚|articulated_lorry 🚛|airplane ✈️|ship 🚢|train 🚆|bus 🚌|car 🚗|bike 🚲|world_map 🗺️|earth_africa 🌍|earth_asia 🌏
globe_with_meridians 🌐|coffee ☕|tea 🍵|beer 🍺|pizza 🍕|hamburger 🍔|cake 🍰|birthday 🎂|cookie 🍪|apple 🍎|banana 🍌|avocado 🥑|rice 🍚
ramen 🍜|dumpling 🥟|dog 🐶|cat 🐱|mouse 🐭|fox_face 🦊|bear 🐻|panda_face 🐼|tiger 🐯|lion_face 🦁|monkey_face 🐵|penguin 🐧|bird 🐦|owl 🦉
bee 🐝|snail 🐌|turtle 🐢|octopus 🐙|whale 🐳|unicorn_face 🦄|dragon 🐉|seedling 🌱|herb 🌿|four_leaf_clover 🍀|cactus 🌵|evergreen_tree 🌲
cherry_blossom 🌸|rose 🌹|sunflower 🌻|mushroom 🍄|one 1️⃣|two 2️⃣|three 3️⃣|four 4️⃣|five 5️⃣|six 6️⃣|seven 7️⃣|eight 8️⃣|nine 9️⃣
keycap_ten 🔟|zero 0️⃣|hash #️⃣|cn 🇨🇳|us 🇺🇸|gb 🇬🇧|uk 🇬🇧|de 🇩🇪|fr 🇫🇷|jp 🇯🇵|kr 🇰🇷|flag-cn 🇨🇳|flag-us 🇺🇸|flag-gb 🇬🇧|flag-de 🇩🇪
checkered_flag 🏁|triangular_flag_on_post 🚩|white_flag 🏳️|bust_in_silhouette 👤|busts_in_silhouette 👥|technologist 🧑‍💻|detective 🕵️
cop 👮|construction_worker 👷|man-shrugging 🤷‍♂️|woman-shrugging 🤷‍♀️|shrug 🤷|face_palm 🤦|bow 🙇|raising_hand 🙋
`;

const BY_NAME = new Map(
  TABLE.trim()
    .split(/[|\n]/)
    .map((pair) => {
      const space = pair.indexOf(" ");
      return [pair.slice(0, space), pair.slice(space + 1)];
    }),
);
const TONES = { 2: "\u{1F3FB}", 3: "\u{1F3FC}", 4: "\u{1F3FD}", 5: "\u{1F3FE}", 6: "\u{1F3FF}" };

/** Reactions offered first in the toolbar of a message. */
export const QUICK = ["+1", "white_check_mark", "eyes"];

/** The character(s) of an emoji name, with an optional `::skin-tone-3`; null when it is not one we know. */
export function emojiOf(name) {
  const [base, tone] = String(name).split("::skin-tone-");
  const glyph = BY_NAME.get(base);
  if (!glyph) return null;
  return tone && TONES[tone] ? glyph.replace("\u{FE0F}", "") + TONES[tone] : glyph;
}

/** The characters of Slack's `unicode` field ("1f44d-1f3fb"), or null when it is not one. */
export function emojiFromCodes(codes) {
  if (!/^[0-9a-f]{2,6}(-[0-9a-f]{2,6})*$/i.test(codes ?? "")) return null;
  const points = codes.split("-").map((code) => Number.parseInt(code, 16));
  return points.every((point) => point <= 0x10ffff) ? String.fromCodePoint(...points) : null;
}

/** Names that contain `part`, those that begin with it first; at most `limit`. */
export function searchEmoji(part, limit = 60) {
  const wanted = part.toLowerCase().replaceAll(" ", "_");
  const hits = [...BY_NAME.keys()].filter((name) => name.includes(wanted));
  hits.sort((a, b) => Number(b.startsWith(wanted)) - Number(a.startsWith(wanted)));
  return hits.slice(0, limit).map((name) => ({ name, glyph: BY_NAME.get(name) }));
}
