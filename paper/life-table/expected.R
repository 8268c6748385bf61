# Survival that Minnesota's life table (survexp.mn of R's package survival) expects of the people of flchain, by age band
# and sex: someone of the group's mean age, from the middle of 1995 on, at 1, 3, 5, 8 and 10 years. A targets file.
# Rscript paper/life-table/expected.R > paper/life-table/minnesota.csv
suppressMessages(library(survival))
people <- flchain
people$band <- cut(people$age, c(0, 60, 70, 80, Inf), right = FALSE,
  labels = c("under 60", "60 to 69", "70 to 79", "80 and over"))
years <- c(1, 3, 5, 8, 10)
cat("# event: death\n# origin: blood sample\n# mortality: all-cause\n# period: 1995 to 2005\n")
cat("group,time,survival,se\n")
for (sex in c("F", "M")) {
  for (band in levels(people$band)) {
    own <- people[people$sex == sex & people$band == band, ]
    one <- data.frame(age = mean(own$age) * 365.2425, sex = ifelse(sex == "F", "female", "male"),
      year = as.Date("1995-07-01"))
    survival <- sapply(round(years * 365.25), function(days)
      survexp(days ~ 1, data = one, rmap = list(age = age, sex = sex, year = year),
        ratetable = survexp.mn, method = "individual.s"))
    cat(sprintf("%s aged %s,%d,%.6f,0.005\n", ifelse(sex == "F", "women", "men"), band,
      round(years * 365.25), survival), sep = "")
  }
}
