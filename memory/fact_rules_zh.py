"""How people state facts in Chinese: the sentences `memory.facts` knows, as patterns over one clause, and the words that mean one thing in both languages.

English nouns inside a Chinese sentence ("deadline 是周五") are read by these rules too. See `memory.fact_rules_en` for what a rule is.
"""

from __future__ import annotations

import re
from typing import Final

from memory.fact_rules_en import Check, Rule
from memory.fact_words import openings
from memory.session_memory import FactKind

_IS: Final = "是|为|等于|定|设|改|调|换|推迟|延|提前|涨|降|[:：=]"
"""What the ways of saying "is" begin with."""


def rule(kind: FactKind, key: str, check: Check, pattern: str, *words: str) -> Rule:
    """A rule of a pattern in which `~` stands for the ways of saying "is". `words`: alternatives one of which it cannot do without."""
    is_ = (
        r"\s*(?:就|还|现在|已经|先|也|要|统一|暂时)*(?:是|为|等于|定为|定在|定成|设为|设成|设置为|设置成|改到|改为|改成|调到|调成|调整到|调整为|"
        r"换成|推迟到|延期到|延到|延长到|提前到|涨到|降到|[:：=])\s*"
    )
    said = (*words, _IS) if "~" in pattern and "(?:~|" not in pattern else words
    return Rule(kind, key, check, re.compile(pattern.replace("~", is_), re.IGNORECASE), tuple(map(openings, said)))


_DUE: Final = (
    "截止日期|截止时间|最后期限|截止|期限|交期|交付日期|交付时间|上线日期|上线时间|发布日期|发布时间|发货日期|开始日期|会议时间|开会时间|"
    "deadline|due date|ddl|launch date|release date"
)
_SETTING: Final = (
    "端口号?|超时时间|超时|环境|区域|地域|分支|版本号?|主机名?|数据库|币种|货币|时区|副本数?|重试次数|阈值|格式|日志级别|模型|批大小|"
    "并发数?|频道|间隔|模式|集群|命名空间|语言|主题|颜色|尺寸|端点|仓库地址|"
    "port|timeout|environment|env|region|branch|version|host|database|replicas|retries|threshold|log level|batch size|cluster|namespace"
)
_AMOUNT: Final = "预算|单价|价格|总价|费用|成本|上限|数量|折扣|定金|押金|总金额|金额|额度|人数|限额|利率|工资|budget|price|limit|quota|discount|总数|运费|份数"
_NOUN: Final = (
    "采购订单|订单|工单|发票|快递|运单|合同|客户|案件|故障单|报修单|报销单|需求|缺陷|项目|单号|设备|员工|航班|账号|账户|任务|order|ticket|"
    "invoice|issue|case|incident|pr|bug"
)
_ROLE: Final = (
    "项目负责人|负责人|产品经理|项目经理|客户经理|技术负责人|联系人|审批人|对接人|值班人?|设计师|审核人|接口人|组长|供应商|owner|pm|lead|reviewer|approver"
)
_PLACED: Final = "客户|公司|办公室|仓库|服务器|团队|会议|会场|活动|供应商|机房"
PLACES: Final = re.compile(
    r"(?:(?:(?![有的开等做])[\u4e00-\u9fff]){1,8}(?:市|省|区|县|镇|路|街|大厦|大楼|会议室|园区|中心|酒店|广场|机场|校区|号楼|楼|号|室)|北京|"
    "上海|广州|深圳|杭州|成都|重庆|武汉|西安|南京|苏州|天津|长沙|厦门|青岛|宁波|郑州|"
    "香港|澳门|台北|东京|大阪|首尔|新加坡|曼谷|伦敦|巴黎|柏林|慕尼黑|纽约|旧金山|西雅图|洛杉矶|波士顿|多伦多|悉尼|墨尔本|迪拜|孟买|美国|"
    r"英国|德国|法国|日本|韩国|中国|加拿大|澳大利亚|印度|[A-Z][\w -]{2,30})"
)
STAGE: Final = (
    "测试环境|预发布环境|预发环境|生产环境|开发环境|正式环境|沙箱环境|灰度环境|staging|production|prod|dev|test|uat|sandbox|qa|"
    "生产|预发布?|测试(?!一|用例|数据|工具|账号)"
)
_PICK: Final = (
    "(?:(?:好的?|那|不对|不(?=[，, ])|嗯|行|ok|然后)[，, ]?)*(?:我们|咱们|咱|我|大家)?(?:还是|那就|就|先|统一|决定|都|改|最终|请|"
    "这次)*(?:选择|选用|选定|选|采用|使用|用(?!户|途|不|过|来|完|得|户|法|了)|走|按(?!时|照|钮|期)|要(?=第))(?:了)?\\s*"
)
_PICKED: Final = "选|采|使|用|走|按|要"
_END: Final = "\\s*(?:吧|就行|就好|好了|即可|了|来做|哈|呗|的?方案)?$"
_DO_NOT: Final = (
    "动|碰|改|修改|删|删除|发|用|部署|重启|告诉|联系|合并|推|上线|通知|提到|泄露|分享|超过|超出|外传|公开|覆盖|安排|打电话|联络|抄送|转发|"
    "升级|迁移|关闭|取消|订|买|触碰"
)

RULES: Final[tuple[Rule, ...]] = (
    # preferences of the speaker
    rule(
        "preference",
        "name",
        "name",
        r"^(?:你好[，, ]?)?(?:我叫(?!了|过|的)|我的名字(?:是|叫)|(?:请|以后|今后|之后|就|都|大家|你们?|可以|直接)*叫我)"
        r"(?P<value>[\u4e00-\u9fffA-Za-z·]{1,20}?)(?:就行|就好|吧)?$",
        "叫|名",
    ),
    rule(
        "preference",
        "language",
        "any",
        r"^(?:请|以后|之后|今后|麻烦|都|你)*用\s?(?P<value>中文|英文|英语|汉语|日语|韩语|法语|德语|English|Chinese)\s?(?:来)?(?:回答|回复|说|"
        "交流|沟通|答复|跟我说|写)?(?:我)?(?:吧|就好|就行)?$",
        "用",
    ),
    rule(
        "preference",
        "answer style",
        "any",
        "^(?:请|以后|之后|今后|麻烦|你|都|的)*(?P<value>(?:回答|回复|说|答复|写)(?:都|请|要|得|的时候)*(?:更)?(?:短|简短|简洁|简单|精简|详细|"
        "简明)(?:一点儿?|点儿?|些|一些)?)(?:吧|就好|就行)?$",
        "回|说|答|写",
    ),
    rule(
        "preference",
        "answer style",
        "any",
        "^(?:请|以后|之后|今后|麻烦|总是|始终|一律|都)*(?P<value>用(?:要点|列表|表格|分点|一句话)(?:来)?(?:回答|回复|答复|说))(?:我)?(?:吧|就好|就行)?$",
        "用",
    ),
    rule("preference", "allergy:", "any", r"我对(?P<value>[^，,。]{1,20}?)(?:都)?(?:严重)?过敏", "敏"),
    rule("preference", "diet", "any", r"^我(?:是)?(?P<value>吃素|素食者|素食主义者|不吃肉|乳糖不耐受|糖尿病)", "素|肉|糖"),
    rule("preference", "dislike:", "any", r"^我(?:从来|一直)?(?:不吃|不喝|不喜欢|讨厌)(?P<value>[^，,。了]{1,20})$", "不|讨"),
    rule("preference", "preference:", "any", r"^我(?:更|比较|一直|还是)?(?:喜欢|偏好|习惯)(?P<value>[^，,。了]{1,30})$", "喜|偏|习"),
    rule("preference", "location", "place", r"^我(?:住在|常驻|人在|base\s?在)\s?(?P<value>[^，,。]{1,20})$", "住|常|人|base"),
    rule("preference", "", "any", r"我的(?P<key>时区|邮箱|电话|手机号?|生日|地址|工号|部门|职位)~(?P<value>[^，,]{1,60})", "我"),
    # dates by which something must be
    rule(
        "deadline",
        "",
        "when",
        rf"(?P<key>{_DUE})(?:~|到|在|\s)?(?:从[^，；]{{1,12}}?(?:改|推迟|延|提前|调)[到成为]了?)?"
        r"(?:改到|改成|改为|推迟到|延到|提前到)?(?P<value>(?!从)[^；]{1,60})",
        _DUE,
    ),
    rule("deadline", "deadline", "when", r"(?:最晚|最迟|不晚于|务必在|必须在|要在|得在)(?P<value>[^；]{1,40})", "最|不|务|必|要|得"),
    rule(
        "deadline",
        "deadline",
        "when",
        r"(?P<value>[^；，]{1,20}?)(?:之前|以前|前)(?:就|一定|务必|都)?(?:要|必须|得|需要|完成|交|上线|搞定|做完|给我|发我|提交)",
        "前",
    ),
    rule(
        "deadline", "deadline", "when", r"^(?:这个|这事|项目|我们|方案|报告)?(?P<value>[^；，]{1,20}?)(?:截止|到期|交付|交稿|就要交|要交)(?:了)?$", "截|到|交"
    ),
    # what was chosen
    rule("choice", "environment", "any", rf"^{_PICK}(?P<value>{STAGE}){_END}", _PICKED),
    rule(
        "choice",
        "choice",
        "any",
        rf"^{_PICK}(?P<value>第[一二三四五六七八九十\d]+[个种款项套份家间]?|最后一?个|前者|后者|便宜的那?个?|贵的那?个?|另一个|另外一个){_END}",
        _PICKED,
    ),
    rule(
        "choice",
        "",
        "any",
        rf"^{_PICK}(?P<value>(?P<key>方案|选项|计划|模板|版本|套餐|路线|设计|plan|option)\s?[A-Za-z0-9一二三四五六七八九十.]{{1,10}}){_END}",
        _PICKED,
    ),
    rule("choice", "", "any", rf"^{_PICK}(?P<value>[A-Za-z0-9.\u4e00-\u9fff ]{{1,16}}?)(?:作为|当作|当|做)(?P<key>[\u4e00-\u9fffA-Za-z]{{2,8}})$", _PICKED),
    rule(
        "choice",
        "choice:",
        "words",
        rf"^{_PICK}(?P<value>[A-Za-z0-9][A-Za-z0-9.+ -]{{0,16}}?|[A-Za-z0-9\u4e00-\u9fff]{{1,10}}?(?:版本?|款|套餐|酒店|色|模式|供应商|模板|格式|"
        f"路线|牌|型号|服务器|数据库|会议室|系统|框架|支付|快递)){_END}",
        _PICKED,
    ),
    # people, places
    rule("entity", "", "name", rf"(?P<key>{_ROLE})~(?P<value>[^，；]{{1,40}})", _ROLE),
    rule("entity", "", "name", rf"^(?P<value>[^，；是]{{1,20}}?)是(?:我们|咱们|这个|该|项目|本次|的)*(?P<key>{_ROLE})$", _ROLE),
    rule("entity", "", "any", r"(?P<key>(?:收货|寄送|送货|收件|办公|公司|开票|联系|邮寄|家庭)?地址)~(?P<value>[^；]{2,80})", "址"),
    rule("entity", "", "place", rf"(?P<key>{_PLACED})(?:都|现在|地点)?(?:在|位于|设在|定在)(?P<value>[^，；]{{2,30}})", _PLACED),
    # amounts, ids with their noun, settings
    rule(
        "amount",
        "",
        "number",
        rf"(?P<key>{_AMOUNT})(?:上限|总额|大概|大约|最多)?(?:~|有|不超过|最多|一共|控制在|给到|\s)?(?:大约|约|最多|不超过)?(?:从[^，；]{{1,12}}?(?:改|涨|降|提高|增加|减|减少|调|调整|变)[到成为]了?)?\s?(?P<value>(?!从)[^；，]{{1,40}})",
        _AMOUNT,
    ),
    rule(
        "entity",
        "",
        "id",
        rf"(?<![A-Za-z])(?P<key>{_NOUN})(?:(?<=[\u4e00-\u9fff])|(?![A-Za-z]))"
        rf"(?:号码|编号|单号|号|id)?\s?(?:就|应该)?(?:是|为|[:：=])?\s?(?P<value>[#A-Za-z0-9][^；]{{0,60}})",
        _NOUN,
    ),
    rule(
        "setting",
        "",
        "words",
        "^(?:请|帮我|麻烦|再|先|然后|你)*[把将](?P<key>[^，；]{1,16}?)(?:从[^，；]{1,10})?(?:改到|改成|改为|设为|设成|设置为|设置成|设到|调到|"
        r"调成|调整为|调整到|换成|提高到|降到|降低到|增加到|减到)\s?(?P<value>[^，；]{1,40})",
        "把|将",
    ),
    rule("setting", "", "words", rf"(?P<key>{_SETTING})~(?P<value>[^，；]{{1,40}})", _SETTING),
    # what must not or must be, and what was decided
    rule(
        "other",
        "constraint:",
        "any",
        "^(?:请|一定|绝对|也|但是?|记得|注意|大家|你们?|我们)*(?P<value>(?:不要|别|不准|不许|禁止|千万别|千万不要|请勿|严禁|不得|不能|不可以|"
        f"绝不能)(?:再|随便|直接|去|给[^，；]{{1,6}}|把[^，；]{{1,10}})?(?:{_DO_NOT})[^；]{{1,40}})(?<!了)$",
        "不|别|禁|千|请|严|绝",
    ),
    rule(
        "other",
        "constraint:",
        "any",
        r"(?P<value>[^，；]{0,16}(?:不能超过|不得超过|不可超过|不许超过|最多不超过|必须低于|必须小于|至少要|必须保持|必须控制在)[^，；]{1,30})",
        "不|最|必|至",
    ),
    rule(
        "other",
        "decision:",
        "any",
        r"^(?:我们|咱们|大家|会上|已经|刚才|最后|最终|团队)*(?:决定|定了|商定|说好|敲定)(?:了)?[，,:：]?\s?(?P<value>[^；]{2,80})",
        "决|定|商|说|敲",
    ),
)

SKIP: Final = re.compile(
    "如果|假如|要是|万一|假设|假定|倘若|的话|可能|也许|大概率|或许|好像|似乎|应该是|我觉得|我猜|我想|估计|听说|据说|不确定|不知道|不清楚|"
    "没定|待定|未定|还没|比如|例如|举个例子|譬如|本来|原来|以前是|之前是|当时|去年|上次|"
    "建议|考虑|要不|希望|但愿|是不是|有没有|能不能|会不会|要不要|可不可以|是否|什么|多少|哪|谁|几点|几号|怎么|为什么|为何|如何|何时|不好说|说不定|八成"
)
CASE: Final = re.compile("^.{0,6}(?:如果|假如|要是|万一|假设|倘若|比如|例如|举个例子|我觉得|我猜|听说|据说|估计|可能|好像|也许)")
"""What stands at the beginning of a sentence that is a case, an example or a guess as a whole."""
ASKS: Final = re.compile("(?:吗|么|呢|没有|不)$")
TAGS: Final = re.compile("^(?:对吧|是吧|好吗|对吗|是吗|可以吗|行吗|对不对|是不是|对么|没错吧|还是[^，]{1,12}|好不好|行不行)$")
NEGATED: Final = re.compile("(?<!不)不是|并非|没有|不再是")
EMPTY: Final = re.compile(
    "^(?:你|您|不|没|很|太|非常|这|那|它|他|她|有点|比较|挺|错|对|好|在|还|已经|一样|怎|打开|帮|给|做|写|查|算|看|发|心|力|时间|户|完)|"
    "(?:打开|发给|帮我|发我|给我|给他|查一下|看一下|算一下|写一|一下|问题|困难|麻烦)"
)

CORRECTS: Final = re.compile(
    "^(?:(?P<cue>不对|不是(?=[，,。!！])|错了|说错了|搞错了|我说错了|我?搞错了|我?记错了|我?弄错了|我?写错了|口误|算了|"
    "忽略[^，,]{1,12}(?=[，,])|更正|更正一下|抱歉|等等|哦不|噢不|不不|不(?!是))[，,。：: !！]*)?"
    "(?P<strong>(?:还是)?(?:改回到?|换回|回到|维持|保持)|还是(?=周|星期|下|本|明|后|\\d|[\\u4e00-\\u9fff]*环境|staging|prod)|"
    "改(?=周|星期|下周|本周|明天|后天|\\d)|应该是|改到|"
    r"改成|改为|推迟到|延到|延期到|提前到|换成|调到|调成|调整到|现在是|那就)?(?P<weak>是)?\s?(?P<value>[^，；？?]{1,30}?)(?:吧|了|才对|"
    "，不是(?P<old>[^，；]{1,20}))?$"
)
NOT_BUT: Final = re.compile(r"^(?:不是|不要|别用|不用)(?P<old>[^，；]{1,20})[，, ]\s*(?:而是|应该是|是|要|用|改用)?(?P<value>[^，；]{1,30}?)(?:吧|了)?$")
INSTEAD: Final = re.compile("^(?:应该|现在|就)?是?(?P<value>[^，；？?是]{1,30}?)[，,]?\\s*(?:而)?不是(?P<old>[^，；]{1,20}?)(?:了)?$")
CORRECTS_WORDS: Final = openings("不|错|说|搞|我|更|抱|等|哦|噢|应|改|推|延|提|换|调|现|那|别|还|回|维|保|记|弄|写|口|算|忽")
"""What corrects begins with one of these."""

WITHDRAWS: Final = re.compile(
    r"(?:(?:不用|别|不要|无需|不必|不需要)(?:再)?(?:管|考虑|理会?|在意|限制)(?P<a>[\u4e00-\u9fffA-Za-z ]{1,20}?)(?:了|限制|要求)*|(?:没有|没|"
    r"无|不设|不限)(?P<b>[\u4e00-\u9fffA-Za-z ]{1,20}?)(?:限制|要求)?(?:了)|"
    r"(?:忘掉|忽略|去掉|忘了|删掉)(?P<c>[\u4e00-\u9fffA-Za-z ]{1,20}?)(?:限制|要求|吧|了)*|(?:取消|解除|"
    r"撤销)(?:了)?(?P<d>[\u4e00-\u9fffA-Za-z ]{1,20}?)(?:限制|要求|的限制|的要求|了|吧)*|(?P<e>[\u4e00-\u9fffA-Za-z ]{1,20}?)(?:作废|不算数|"
    "不用管)(?:了)?|(?P<f>[\\u4e00-\\u9fffA-Za-z ]{1,20}?)(?:已经?|被|都|现在)*(?:取消|撤销|撤|没有|没|不要|不需要|不设|解除)了)$"
)
WITHDRAWS_WORDS: Final = openings("不|别|无|没|忘|忽|去|删|取|解|撤|作")
"""Without one of these nothing is taken back."""

_SAME: Final = (
    ("deadline", "截止日期|截止时间|最后期限|截止|期限|交期|due date|ddl|cutoff|cut-off|cutoff date"),
    ("launch date", "上线日期|上线时间|launch|go-live|go live|go-live date|golive"),
    ("release date", "发布日期|发布时间"),
    ("delivery date", "交付日期|交付时间"),
    ("meeting", "会议时间|开会时间|meeting time|meeting date"),
    ("budget", "预算"),
    ("environment", "环境|env"),
    ("port", "端口|端口号|ports"),
    ("timeout", "超时|超时时间|time-out|time out"),
    ("region", "区域|地域"),
    ("branch", "分支"),
    ("version", "版本|版本号"),
    ("host", "主机|主机名|hostname"),
    ("database", "数据库|data base"),
    ("currency", "币种|货币"),
    ("time zone", "时区|timezone"),
    ("replicas", "副本|副本数"),
    ("retries", "重试次数|max retries|retry limit"),
    ("threshold", "阈值"),
    ("log level", "日志级别"),
    ("language", "语言"),
    ("price", "价格|prices"),
    ("unit price", "单价"),
    ("cost", "费用|成本|costs"),
    ("total", "总价|总金额|总数"),
    ("limit", "上限|限额"),
    ("quantity", "数量"),
    ("discount", "折扣"),
    ("deposit", "定金|押金"),
    ("amount", "金额"),
    ("quota", "额度"),
    ("head count", "人数|headcount"),
    ("order", "订单|单号"),
    ("purchase order", "采购订单|po"),
    ("ticket", "工单"),
    ("invoice", "发票"),
    ("tracking", "快递|运单"),
    ("contract", "合同"),
    ("customer", "客户"),
    ("incident", "故障单"),
    ("bug", "缺陷"),
    ("pull request", "pr"),
    ("project", "项目"),
    ("flight", "航班"),
    ("account", "账号|账户"),
    ("owner", "负责人|项目负责人|project owner|dri"),
    ("product manager", "产品经理|pm"),
    ("project manager", "项目经理"),
    ("contact", "联系人|对接人|contact person|point of contact|接口人"),
    ("approver", "审批人"),
    ("reviewer", "审核人"),
    ("designer", "设计师"),
    ("on-call", "值班|值班人|oncall"),
    ("supplier", "供应商|vendor"),
    ("address", "地址"),
    ("shipping address", "收货地址|寄送地址|送货地址|收件地址|邮寄地址|delivery address"),
    ("office address", "办公地址|公司地址"),
    ("plan", "方案|计划"),
    ("option", "选项"),
    ("template", "模板"),
    ("package", "套餐"),
    ("e-mail", "邮箱|email|email address|e-mail address"),
    ("phone", "电话|手机|手机号|phone number"),
    ("birthday", "生日"),
    ("office", "办公室"),
    ("warehouse", "仓库"),
    ("server", "服务器|servers"),
    ("team", "团队"),
    ("meeting", "会议"),
    ("venue", "会场"),
    ("data center", "机房|data centre|datacenter"),
    ("event", "活动"),
    ("company", "公司"),
    ("concurrency", "并发|并发数"),
    ("model", "模型"),
    ("format", "格式"),
    ("channel", "频道"),
)
SYNONYMS: Final = {word: key for key, words in _SAME for word in words.split("|")}
"""Every other word for a key, in both languages."""

RELATIVE: Final = re.compile(
    r"\b(?:tomorrow|today|tonight|noon|midnight|next week|this week|next month|this month|next year|end of (?:the |next |this )?(?:day|week|"
    r"month|quarter|year)|eod|eow|eom|cob|morning|afternoon|evening|weekend)\b|"
    "明天|今天|后天|大后天|今晚|明早|明晚|月底|月初|年底|年末|下周末|本周末|周末|下周(?![一二三四五六日天])|本周(?![一二三四五六日天])|"
    "下个?月|下班|中午|上午|下午|晚上|早上",
    re.IGNORECASE,
)
"""Days and times that no identifier is, because they say nothing by themselves."""
