//! Names of many cultures, put together at random; nobody in particular is meant.

use lyceum_core::random::RandomStream;

/// Family and given names that go together, and the race and ethnicity that their bearers most
/// often state in the demographics of a North American school.
pub(super) struct Culture {
    /// Of 100 families, how many.
    share: u64,
    family: &'static [&'static str],
    girls: &'static [&'static str],
    boys: &'static [&'static str],
    /// Column of the demographics.
    pub(super) race: Race,
}

/// The race and ethnicity of a family in the demographics.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Race {
    Native,
    Asian,
    Black,
    Pacific,
    White,
    Hispanic,
}

impl Culture {
    pub(super) fn of(stream: &mut RandomStream) -> &'static Self {
        let mut place = stream.below(100);
        CULTURES
            .iter()
            .find(|culture| {
                let is_culture = place < culture.share;
                place = place.saturating_sub(culture.share);
                is_culture
            })
            .expect("the shares add up to 100")
    }

    pub(super) fn family(&self, stream: &mut RandomStream) -> &'static str {
        let names = self.family;
        names[stream.below(names.len() as u64) as usize]
    }

    pub(super) fn given(&self, girl: bool, stream: &mut RandomStream) -> &'static str {
        let names = if girl { self.girls } else { self.boys };
        names[stream.below(names.len() as u64) as usize]
    }
}

/// A name as the local part of an e-mail address: ASCII letters in lower case.
pub(super) fn plain(name: &str, out: &mut String) {
    for c in name.chars() {
        match c {
            'a'..='z' => out.push(c),
            'A'..='Z' => out.push(c.to_ascii_lowercase()),
            'à' | 'á' | 'â' | 'ã' | 'ä' | 'å' | 'ā' | 'ă' | 'ą' | 'ạ' | 'ả' | 'ấ' => {
                out.push('a');
            }
            'ç' | 'ć' | 'Č' | 'č' => out.push('c'),
            'Đ' | 'đ' => out.push('d'),
            'É' | 'è' | 'é' | 'ê' | 'ë' | 'ē' | 'ę' | 'ě' | 'ế' | 'ễ' => out.push('e'),
            'ì' | 'í' | 'î' | 'ï' | 'ī' | 'İ' | 'ı' | 'ị' => out.push('i'),
            'Ł' | 'ł' => out.push('l'),
            'ñ' | 'ń' | 'ň' => out.push('n'),
            'Ó' | 'Ö' | 'ò' | 'ó' | 'ô' | 'õ' | 'ö' | 'ø' | 'ơ' | 'ọ' | 'ồ' => {
                out.push('o');
            }
            'ř' => out.push('r'),
            'ś' | 'Ş' | 'ş' | 'Š' | 'š' => out.push('s'),
            'ù' | 'ú' | 'û' | 'ü' | 'ũ' | 'ū' | 'ů' | 'ư' => out.push('u'),
            'ý' | 'ỳ' => out.push('y'),
            'ź' | 'ż' | 'Ž' | 'ž' => out.push('z'),
            _ => {}
        }
    }
}

static CULTURES: &[Culture] = &[
    Culture {
        share: 26,
        family: &[
            "Abbott",
            "Ashworth",
            "Barlow",
            "Bennett",
            "Calloway",
            "Carver",
            "Dalton",
            "Ellison",
            "Fairchild",
            "Garrison",
            "Hollis",
            "Kendrick",
            "Langley",
            "Merritt",
            "Norwood",
            "Pemberton",
            "Radcliffe",
            "Sheffield",
            "Thornton",
            "Underhill",
            "Whitaker",
            "Yardley",
        ],
        girls: &[
            "Abigail",
            "Alice",
            "Audrey",
            "Charlotte",
            "Clara",
            "Eleanor",
            "Emma",
            "Grace",
            "Hannah",
            "Harper",
            "Hazel",
            "Josephine",
            "Lucy",
            "Nora",
            "Ruby",
            "Sadie",
            "Violet",
        ],
        boys: &[
            "Asher", "Caleb", "Calvin", "Elliot", "Everett", "Felix", "Graham", "Henry", "Hudson",
            "Jasper", "Levi", "Miles", "Nathan", "Oliver", "Owen", "Theodore", "Wyatt",
        ],
        race: Race::White,
    },
    Culture {
        share: 24,
        family: &[
            "Aguilar",
            "Barrios",
            "Cárdenas",
            "Delgado",
            "Escobedo",
            "Fuentes",
            "Galván",
            "Herrera",
            "Ibáñez",
            "Jaramillo",
            "Lozano",
            "Márquez",
            "Núñez",
            "Ochoa",
            "Palacios",
            "Quintero",
            "Rentería",
            "Salazar",
            "Tovar",
            "Urrutia",
            "Villalobos",
            "Zamora",
        ],
        girls: &[
            "Alejandra",
            "Camila",
            "Catalina",
            "Daniela",
            "Elena",
            "Gabriela",
            "Inés",
            "Isabela",
            "Lucía",
            "Marisol",
            "Natalia",
            "Paloma",
            "Renata",
            "Rocío",
            "Sofía",
            "Valentina",
        ],
        boys: &[
            "Adrián",
            "Andrés",
            "Diego",
            "Emilio",
            "Esteban",
            "Gael",
            "Iván",
            "Javier",
            "Joaquín",
            "Leonardo",
            "Mateo",
            "Nicolás",
            "Rafael",
            "Santiago",
            "Sebastián",
            "Tomás",
        ],
        race: Race::Hispanic,
    },
    Culture {
        share: 13,
        family: &[
            "Banks",
            "Battle",
            "Booker",
            "Broadnax",
            "Chatman",
            "Dorsey",
            "Fountain",
            "Gaines",
            "Hairston",
            "Ivory",
            "Jefferies",
            "Lyles",
            "McCray",
            "Pettway",
            "Rollins",
            "Sturdivant",
            "Tolliver",
            "Wingate",
        ],
        girls: &[
            "Aaliyah", "Amara", "Ayanna", "Brielle", "Deja", "Imani", "Jada", "Kendra", "Kiara",
            "Laila", "Nia", "Raven", "Simone", "Tiana", "Zora",
        ],
        boys: &[
            "Amari", "Andre", "Cedric", "Darius", "Desmond", "Elijah", "Isaiah", "Jalen", "Kareem",
            "Malik", "Marcus", "Omari", "Quincy", "Terrence", "Xavier",
        ],
        race: Race::Black,
    },
    Culture {
        share: 5,
        family: &[
            "Adeyemi", "Afolabi", "Asante", "Boateng", "Chukwu", "Diallo", "Eze", "Kamau",
            "Mensah", "Mwangi", "Ndiaye", "Nwosu", "Okafor", "Otieno", "Owusu", "Tesfaye",
        ],
        girls: &[
            "Abeba", "Adaeze", "Akosua", "Aminata", "Chidinma", "Esi", "Fatou", "Makena", "Ngozi",
            "Nyambura", "Selam", "Wanjiru", "Yaa", "Zuri",
        ],
        boys: &[
            "Abebe", "Chidi", "Dawit", "Ekow", "Emeka", "Jabari", "Kofi", "Kwame", "Mamadou",
            "Obinna", "Ousmane", "Sekou", "Tunde", "Yonas",
        ],
        race: Race::Black,
    },
    Culture {
        share: 6,
        family: &[
            "Agarwal",
            "Banerjee",
            "Chandran",
            "Deshmukh",
            "Gokhale",
            "Iyer",
            "Joshi",
            "Kulkarni",
            "Menon",
            "Mukherjee",
            "Nair",
            "Pillai",
            "Rao",
            "Sandhu",
            "Trivedi",
            "Venkatesan",
        ],
        girls: &[
            "Aanya", "Anika", "Deepa", "Diya", "Isha", "Kavya", "Lakshmi", "Meera", "Nandini",
            "Priya", "Rhea", "Saanvi", "Shreya", "Tara",
        ],
        boys: &[
            "Aarav",
            "Aditya",
            "Arjun",
            "Dev",
            "Ishaan",
            "Karthik",
            "Krishna",
            "Nikhil",
            "Pranav",
            "Rohan",
            "Siddharth",
            "Varun",
            "Vihaan",
            "Yash",
        ],
        race: Race::Asian,
    },
    Culture {
        share: 6,
        family: &[
            "Bao", "Cai", "Deng", "Fang", "Gao", "Han", "Jiang", "Liang", "Luo", "Meng", "Peng",
            "Qiu", "Shen", "Tang", "Xie", "Yuan", "Zheng", "Zhou",
        ],
        girls: &[
            "Ai", "Fen", "Hui", "Jing", "Lan", "Lian", "Mei", "Ning", "Qing", "Rui", "Xia", "Xiu",
            "Ying", "Yue",
        ],
        boys: &[
            "An", "Bo", "Chao", "Feng", "Hao", "Jian", "Jun", "Kai", "Lei", "Ming", "Peng", "Tao",
            "Wei", "Yong",
        ],
        race: Race::Asian,
    },
    Culture {
        share: 4,
        family: &[
            "Bùi", "Dang", "Đinh", "Dương", "Hà", "Hoàng", "Lương", "Mai", "Ngô", "Nguyễn", "Phan",
            "Trinh", "Văn", "Võ",
        ],
        girls: &[
            "Bích", "Chi", "Diễm", "Giang", "Hạnh", "Hương", "Linh", "Ngọc", "Nhung", "Quỳnh",
            "Thảo", "Trang", "Tuyết",
        ],
        boys: &[
            "Bảo", "Công", "Đạt", "Dũng", "Hiếu", "Hùng", "Khang", "Long", "Minh", "Phúc", "Quân",
            "Thành", "Tuấn",
        ],
        race: Race::Asian,
    },
    Culture {
        share: 5,
        family: &[
            "Al-Amin", "Aziz", "Darwish", "El-Sayed", "Farouk", "Ghanem", "Haddad", "Hamdan",
            "Khoury", "Mansour", "Nassar", "Qasim", "Rahimi", "Saleh", "Tahan", "Yousef",
        ],
        girls: &[
            "Amina", "Dalia", "Farah", "Hala", "Jana", "Layla", "Leen", "Mariam", "Noor", "Rania",
            "Salma", "Samira", "Yasmin", "Zahra",
        ],
        boys: &[
            "Ali", "Bilal", "Faris", "Hamza", "Idris", "Ibrahim", "Karim", "Khalid", "Nabil",
            "Omar", "Rami", "Sami", "Tariq", "Zayd",
        ],
        race: Race::White,
    },
    Culture {
        share: 5,
        family: &[
            "Bielak",
            "Černý",
            "Dąbrowski",
            "Dvořák",
            "Horvat",
            "Jankowski",
            "Kovač",
            "Kučera",
            "Łukasik",
            "Marković",
            "Novotný",
            "Petrenko",
            "Popović",
            "Šimek",
            "Wójcik",
            "Zielińska",
        ],
        girls: &[
            "Agnieszka",
            "Bohdana",
            "Dorota",
            "Eliška",
            "Halina",
            "Ivana",
            "Jadwiga",
            "Katarína",
            "Ludmila",
            "Milena",
            "Oksana",
            "Tereza",
            "Zofia",
        ],
        boys: &[
            "Andrij",
            "Bartosz",
            "Dušan",
            "Filip",
            "Goran",
            "Jakub",
            "Kacper",
            "Marek",
            "Milan",
            "Ondřej",
            "Pavel",
            "Stanisław",
            "Vojtěch",
        ],
        race: Race::White,
    },
    Culture {
        share: 2,
        family: &[
            "Begay",
            "Benally",
            "Etsitty",
            "Ironcloud",
            "Longtree",
            "Nez",
            "Redfeather",
            "Tallchief",
            "Tsosie",
            "Whitehorse",
            "Yazzie",
        ],
        girls: &[
            "Aiyana", "Cheyenne", "Dyani", "Kaya", "Leotie", "Nizhoni", "Sihu", "Talulah", "Winona",
        ],
        boys: &[
            "Ahiga", "Chayton", "Dakota", "Elan", "Hosteen", "Kele", "Mato", "Tahoma", "Wyandot",
        ],
        race: Race::Native,
    },
    Culture {
        share: 2,
        family: &[
            "Faleolo",
            "Kahale",
            "Kealoha",
            "Leilua",
            "Manu",
            "Palakiko",
            "Sefo",
            "Tavita",
            "Tuiasosopo",
            "Vaifale",
        ],
        girls: &["Alana", "Kalea", "Lani", "Leilani", "Malia", "Moana", "Sina", "Tala", "Vaiana"],
        boys: &["Ikaika", "Kai", "Kanoa", "Keoni", "Makoa", "Nalu", "Sione", "Tama", "Tavita"],
        race: Race::Pacific,
    },
    Culture {
        share: 2,
        family: &[
            "Akiyama", "Fujimoto", "Hayashi", "Ishida", "Kang", "Matsuda", "Noh", "Okada", "Ryu",
            "Seong", "Takeda", "Yoon",
        ],
        girls: &["Aiko", "Eun-ji", "Haruka", "Hina", "Ji-woo", "Keiko", "Min-seo", "Sakura", "Yui"],
        boys: &["Daichi", "Do-yun", "Haruto", "Hiro", "Jun-ho", "Kenta", "Min-jun", "Ren", "Sora"],
        race: Race::Asian,
    },
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_add_up_and_names_have_plain_forms() {
        assert_eq!(CULTURES.iter().map(|culture| culture.share).sum::<u64>(), 100);
        for culture in CULTURES {
            for name in culture.family.iter().chain(culture.girls).chain(culture.boys) {
                let mut out = String::new();
                plain(name, &mut out);
                let letters = name.chars().filter(|c| c.is_alphabetic()).count();
                assert!(out.len() >= letters, "{name} loses letters: {out}");
            }
        }
    }
}
